-- Streams, their sessions (signal and broadcast), and the encoder connections behind them.

create table stream (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  title text not null,
  description text,
  visibility text not null,
  -- The stream key: found by its SHA-256, shown again to its owner from the encrypted form.
  key_hash bytea not null,
  key_encrypted bytea not null,
  enabled boolean not null default true,
  has_signal boolean not null default false,
  is_live boolean not null default false,
  latency_mode text not null default 'STANDARD',
  record boolean not null default false,
  record_visibility text not null default 'PRIVATE',
  reconnect_window_sec integer not null default 120,
  auto_start boolean not null default false,
  auto_stop_after_sec integer,
  max_duration_sec integer not null default 43200,
  chat_enabled boolean not null default true,
  chat_mode text not null default 'OPEN',
  slow_mode_sec integer not null default 0,
  scheduled_start_at timestamptz,
  metadata jsonb not null default '{}',
  external_id text,
  current_session_id text,
  -- When the broadcast was switched on; started_at is when it had both the switch and media.
  live_since timestamptz,
  started_at timestamptz,
  ended_at timestamptz,
  last_signal_at timestamptz,
  signal_lost_at timestamptz,
  health jsonb,
  viewer_count integer not null default 0,
  peak_viewers integer not null default 0,
  -- De-duplication of the broadcast events (api.md C0.19): when each was last sent, and what was last said.
  broadcast_started_said_at timestamptz,
  broadcast_stopped_said_at timestamptz,
  broadcast_said_live boolean not null default false,
  broadcast_due_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz
);
create unique index stream_key_hash on stream (key_hash);
create index stream_workspace on stream (workspace_id, id desc) where deleted_at is null;
create index stream_broadcast_due on stream (broadcast_due_at) where broadcast_due_at is not null;
create index stream_live on stream (workspace_id) where is_live;

create table stream_session (
  id text primary key,
  stream_id text not null references stream (id) on delete cascade,
  workspace_id text not null references workspace (id) on delete cascade,
  signal_started_at timestamptz not null,
  signal_ended_at timestamptz,
  broadcast_started_at timestamptz,
  broadcast_ended_at timestamptz,
  peak_viewers integer not null default 0,
  unique_viewers integer not null default 0,
  error text
);
create index stream_session_list on stream_session (stream_id, id desc);

-- One row for each encoder connection. A broken one stays until its grace is over: `lost_at` is set, and the
-- stream keeps its signal while `grace_until` lies ahead.
create table ingest_session (
  id text primary key,
  stream_id text not null references stream (id) on delete cascade,
  node_id text not null,
  protocol text not null,
  started_at timestamptz not null,
  last_seen_at timestamptz not null,
  video jsonb,
  audio jsonb,
  lost_at timestamptz,
  grace_until timestamptz,
  kick_reason text,
  ended_at timestamptz,
  end_reason text
);
create unique index ingest_session_open on ingest_session (stream_id) where ended_at is null;
create index ingest_session_node on ingest_session (node_id) where ended_at is null;
