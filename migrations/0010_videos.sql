-- Videos, their renditions and captions, upload sessions, counted views, and the storage a workspace uses.

alter table workspace add column storage_bytes bigint not null default 0;

create table video (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  title text not null,
  description text,
  status text not null check (status in ('UPLOADING', 'QUEUED', 'PROCESSING', 'READY', 'FAILED')),
  visibility text not null,
  tier_ids text[] not null default '{}',
  price_cents integer,
  currency text not null default 'USD',
  tags text[] not null default '{}',
  metadata jsonb not null default '{}',
  external_id text,
  source text not null check (source in ('UPLOAD', 'IMPORT', 'RECORDING', 'CLIP')),
  upload_id text,
  import_id text,
  stream_id text,
  session_id text,
  -- Of the original: where it is stored, and what the probe found.
  original_key text,
  size_bytes bigint,
  duration_sec double precision,
  width integer,
  height integer,
  frame_rate double precision,
  -- Bytes counted in workspace.storage_bytes for this video; a reservation while it is being received.
  storage_bytes bigint not null default 0,
  progress_percent double precision not null default 0,
  error_code text,
  error_message text,
  -- Counts processings: a retry writes into a new revision, so that no two runs share a file.
  revision integer not null default 0,
  attempt integer not null default 0,
  -- The folder (`r<revision>a<attempt>`) of the images.
  image_folder text,
  has_storyboard boolean not null default false,
  -- A thumbnail that was chosen: a file of its own, or a moment of the video.
  thumbnail_file text,
  chapters jsonb not null default '[]',
  view_count bigint not null default 0,
  published_at timestamptz,
  publish_at timestamptz,
  event_sequence integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  purged_at timestamptz
);
create index video_workspace on video (workspace_id, id desc) where deleted_at is null;
create index video_status on video (workspace_id, status, id desc) where deleted_at is null;
create index video_external on video (workspace_id, external_id) where external_id is not null and deleted_at is null;
create index video_stream on video (stream_id) where stream_id is not null;
create index video_tags on video using gin (tags) where deleted_at is null;
create index video_publish_at on video (publish_at) where publish_at is not null and deleted_at is null;
create index video_unpurged on video (deleted_at) where deleted_at is not null and purged_at is null;

-- One row for each rung and one for the shared audio. A rung is playable when it is READY.
create table video_rendition (
  video_id text not null references video (id) on delete cascade,
  revision integer not null,
  -- `1080p`; `audio` for the shared audio.
  name text not null,
  kind text not null check (kind in ('VIDEO', 'AUDIO')),
  status text not null check (status in ('PENDING', 'PROCESSING', 'READY')),
  -- The folder (`r<revision>a<attempt>`) of its files, set when they are complete.
  folder text,
  width integer,
  height integer,
  frame_rate double precision,
  -- RFC 6381; bits per second.
  codecs text,
  average_bitrate integer,
  peak_bitrate integer,
  size_bytes bigint,
  progress_percent double precision not null default 0,
  primary key (video_id, revision, name)
);

create table video_caption (
  id text primary key,
  video_id text not null references video (id) on delete cascade,
  language text not null,
  label text not null,
  is_auto boolean not null default false,
  -- Name of the file below the video's `captions/`; unique for ever, so that it may be cached for ever.
  file text not null,
  created_at timestamptz not null default now(),
  unique (video_id, language)
);

-- Who was counted lately: a hash, never an address.
create table video_view (
  video_id text not null references video (id) on delete cascade,
  viewer bytea not null,
  counted_at timestamptz not null,
  primary key (video_id, viewer)
);
create index video_view_counted on video_view (counted_at);

create table upload (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  video_id text not null references video (id) on delete cascade,
  status text not null check (status in ('WAITING', 'UPLOADING', 'COMPLETED', 'CANCELED', 'EXPIRED', 'FAILED')),
  protocol text not null default 'TUS' check (protocol in ('TUS', 'PUT')),
  -- SHA-256 of the unguessable part of `uploadUrl`; shown again to its owner from the encrypted form.
  token_hash bytea not null,
  token_encrypted bytea not null,
  cors_origin text,
  filename text not null,
  mime_type text not null,
  -- Null until the client says it (tus `Upload-Defer-Length`).
  size_bytes bigint,
  received_bytes bigint not null default 0,
  sha256 text,
  -- Where the storage driver stands: a multipart id, the parts.
  storage_state jsonb not null default '{}',
  error_code text,
  error_message text,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  ended_at timestamptz
);
create unique index upload_token on upload (token_hash);
create index upload_workspace on upload (workspace_id, id desc);
create index upload_video on upload (video_id);
create index upload_open on upload (expires_at) where ended_at is null;
