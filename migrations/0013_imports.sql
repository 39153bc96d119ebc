-- Files that are fetched from an address.
create table import (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  -- The video that the file becomes; a retry makes another one. Null when it was purged.
  video_id text references video (id) on delete set null,
  source_url text not null,
  provider text not null check (provider in ('URL', 'S3', 'YOUTUBE', 'VIMEO', 'TWITCH', 'PEERTUBE')),
  status text not null check (status in ('PENDING', 'DOWNLOADING', 'PROCESSING', 'COMPLETED', 'FAILED', 'CANCELED')),
  -- What the video is made with, as it was asked for.
  title text not null,
  visibility text not null,
  metadata jsonb not null default '{}',
  -- Null until the server has said it.
  bytes_total bigint,
  bytes_received bigint not null default 0,
  -- ETag or Last-Modified of the received bytes: with it the rest can be asked for.
  validator text,
  -- Where the storage driver stands; null while nothing was received.
  storage_state jsonb,
  error_code text,
  error_message text,
  event_sequence integer not null default 0,
  created_at timestamptz not null default now(),
  completed_at timestamptz
);
create index import_workspace on import (workspace_id, id desc);
create index import_video on import (video_id);
