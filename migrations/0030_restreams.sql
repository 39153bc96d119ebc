-- Broadcasts that are sent on to other platforms: a restream of a stream, and its targets.

create table restream (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  stream_id text not null references stream (id) on delete cascade,
  name text not null,
  enabled boolean not null default true,
  start_mode text not null check (start_mode in ('WITH_BROADCAST', 'WITH_SIGNAL', 'MANUAL')),
  -- What was last asked for by a call; AUTO follows the start mode.
  wish text not null default 'AUTO' check (wish in ('AUTO', 'STARTED', 'STOPPED')),
  -- It sends, or would if it could: set by those who reconcile it with its stream.
  is_running boolean not null default false,
  -- Counts the events about it and its targets.
  event_sequence integer not null default 0,
  started_at timestamptz,
  stopped_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index restream_workspace on restream (workspace_id, id desc);
create index restream_stream on restream (stream_id);
create index restream_running on restream (id) where is_running;

create table restream_target (
  id text primary key,
  restream_id text not null references restream (id) on delete cascade,
  name text not null,
  platform text not null check (platform in ('YOUTUBE', 'TWITCH', 'FACEBOOK', 'KICK', 'X', 'CUSTOM')),
  url text not null,
  -- Encrypted; null where the address has none.
  stream_key bytea,
  stream_key_last4 text,
  enabled boolean not null default true,
  state text not null default 'IDLE' check (state in ('IDLE', 'CONNECTING', 'BROADCASTING', 'ERRORED')),
  error_severity text check (error_severity in ('NORMAL', 'FATAL')),
  error_message text,
  -- Attempts that failed since it last sent for a while.
  retry_count integer not null default 0,
  next_retry_at timestamptz,
  connected_at timestamptz,
  bitrate_kbps integer,
  -- Kept when it sends again.
  last_failure_at timestamptz,
  last_failure text,
  -- Another one begins a new connection.
  revision integer not null default 1,
  -- The one node that may send, until when.
  node_id text,
  lease_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((state = 'ERRORED') = (error_severity is not null))
);
create index restream_target_restream on restream_target (restream_id, id);
create index restream_target_node on restream_target (node_id) where node_id is not null;

-- The restreams of a stream, oldest first; restream has the truth.
alter table stream add column restream_ids text[] not null default '{}';
create index stream_on_air on stream (id) where has_signal or is_live;
