-- What carries media between two things of a workspace: a source outside into a stream, a room into a stream, a stream
-- into a room.

create table bridge (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  type text not null check (type in ('ROOM_TO_STREAM', 'PULL_TO_STREAM', 'STREAM_TO_ROOM')),
  -- A room or a stream; null where the source is an address.
  source_id text,
  -- Encrypted: it may have a password or a key in it. The other is what may be shown.
  source_url bytea,
  source_url_shown text,
  -- A stream or a room.
  target_id text not null,
  layout text check (layout in ('GRID', 'SPEAKER', 'SINGLE')),
  auto_restart boolean not null default false,
  status text not null default 'PENDING'
    check (status in ('PENDING', 'CONNECTING', 'ACTIVE', 'FAILED', 'STOPPED')),
  error text,
  -- Why it is STOPPED.
  end_reason text
    check (end_reason in ('SOURCE_ENDED', 'TARGET_ENDED', 'TARGET_TAKEN', 'EXPIRED', 'SUSPENDED', 'DELETED')),
  -- Attempts that failed since it last carried media for a while.
  retry_count integer not null default 0,
  next_retry_at timestamptz,
  -- The one node that may run it, until when.
  node_id text,
  lease_until timestamptz,
  -- Counts the events about it.
  event_sequence integer not null default 0,
  expires_at timestamptz,
  started_at timestamptz,
  stopped_at timestamptz,
  created_at timestamptz not null,
  check ((source_id is null) <> (source_url is null)),
  check ((status = 'STOPPED') = (end_reason is not null))
);
create index bridge_workspace on bridge (workspace_id, id desc);
create index bridge_open on bridge (target_id) where status not in ('FAILED', 'STOPPED');
-- A stream has one source at a time.
create unique index bridge_feeds on bridge (target_id)
  where type <> 'STREAM_TO_ROOM' and status not in ('FAILED', 'STOPPED');
