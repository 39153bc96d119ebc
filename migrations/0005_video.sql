-- Videos, their files and processing, uploads, imports and playlists.

create table video (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  title text not null,
  description text,
  status text not null check (status in ('UPLOADING', 'QUEUED', 'PROCESSING', 'READY', 'FAILED')),
  visibility text not null check (visibility in ('PUBLIC', 'UNLISTED', 'PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE')),
  tier_ids text[] not null default '{}',
  price_cents integer,
  currency text not null default 'USD',
  tags text[] not null default '{}',
  metadata jsonb not null default '{}',
  external_id text,
  -- How the video came into being.
  source text not null check (source in ('UPLOAD', 'IMPORT', 'RECORDING', 'CLIP')),
  upload_id text,
  import_id text,
  stream_id text,
  session_id text,
  -- Original file: its key in the store, and what the probe found.
  original_key text,
  size_bytes bigint,
  duration_sec double precision,
  width integer,
  height integer,
  frame_rate double precision,
  -- Bytes of the video in workspace.storage_bytes; a reservation while it is being received.
  storage_bytes bigint not null default 0,
  progress_percent double precision not null default 0,
  error_code text,
  error_message text,
  -- Limitations of the file that viewers notice: `[{code, message}]`.
  processing_notes jsonb not null default '[]',
  -- Incremented by each processing: a retry writes a new revision, so that no two runs share a file.
  revision integer not null default 0,
  attempt integer not null default 0,
  -- Folder (`r<revision>a<attempt>`) of the images.
  image_folder text,
  has_storyboard boolean not null default false,
  has_preview boolean not null default false,
  -- Chosen thumbnail: an uploaded file, or a frame of the video.
  thumbnail_file text,
  chapters jsonb not null default '[]',
  view_count bigint not null default 0,
  published_at timestamptz,
  publish_at timestamptz,
  -- When the owner was notified that the plan no longer retains the recording, and its retention limit then.
  retention_notified_at timestamptz,
  retention_notified_for timestamptz,
  event_sequence integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  purged_at timestamptz,
  taken_down_at timestamptz,
  takedown_reason text,
  constraint video_takedown_reason check ((taken_down_at is null) = (takedown_reason is null))
);
create index video_workspace on video (workspace_id, id desc) where deleted_at is null;
create index video_publish_at on video (publish_at) where publish_at is not null and deleted_at is null;
create index video_unpurged on video (deleted_at) where deleted_at is not null and purged_at is null;
create index video_session on video (session_id) where session_id is not null;
create index video_public on video (id desc) where deleted_at is null and status = 'READY' and visibility = 'PUBLIC';
create index video_public_workspace on video (workspace_id, id desc)
  where deleted_at is null and status = 'READY' and visibility = 'PUBLIC';
create index video_recording on video (created_at) where deleted_at is null and source = 'RECORDING';
create index video_unfinished on video (updated_at) where status in ('QUEUED', 'PROCESSING') and deleted_at is null;
-- Indexes of states name the collation of the ID, so that a list ordered by it does not use the primary key
-- (docs/decisions/lists-and-ids.md#filters).
create index video_state on video (workspace_id, status, visibility, id collate "C" desc) where deleted_at is null;
create index video_stream_state on video (stream_id, status, visibility, id collate "C" desc)
  where stream_id is not null and deleted_at is null;
create index video_external_state on video (workspace_id, external_id, status, visibility, id collate "C" desc)
  where external_id is not null and deleted_at is null;
-- Searches by trigrams and single letters (docs/decisions/lists-and-ids.md#searches). New rows wait in a list that
-- every search reads, so it is short.
create index video_title_search on video using gin
  (workspace_id, title gin_trgm_ops, string_to_array(lower(title), null))
  with (gin_pending_list_limit = 64) where deleted_at is null;

-- One row per tag of a video: lists by tag have an order that no index of arrays provides
-- (docs/decisions/lists-and-ids.md#filters). Written only by the triggers below.
create table video_tag (
  workspace_id text not null,
  tag text not null,
  status text not null,
  visibility text not null,
  video_id text not null,
  primary key (workspace_id, tag, status, visibility, video_id)
);

create function keep_video_tags() returns trigger language plpgsql as $$ begin
  if tg_op <> 'INSERT' then
    delete from video_tag where workspace_id = old.workspace_id and tag = any(old.tags)
      and status = old.status and visibility = old.visibility and video_id = old.id;
  end if;
  if tg_op <> 'DELETE' and new.deleted_at is null then
    insert into video_tag (workspace_id, tag, status, visibility, video_id)
    select distinct new.workspace_id, tag, new.status, new.visibility, new.id from unnest(new.tags) tag;
  end if;
  return null;
end $$;

create trigger video_tagged after insert on video for each row
  when (new.tags <> '{}') execute function keep_video_tags();
create trigger video_tags_changed after update on video for each row
  when ((old.tags <> '{}' or new.tags <> '{}') and (old.tags, old.status, old.visibility, old.deleted_at is null)
    is distinct from (new.tags, new.status, new.visibility, new.deleted_at is null))
  execute function keep_video_tags();
create trigger video_tags_gone after delete on video for each row
  when (old.tags <> '{}') execute function keep_video_tags();

-- One row per rung of the ladder and per audio track. A rendition is playable when it is READY.
create table video_rendition (
  video_id text not null references video (id) on delete cascade,
  revision integer not null,
  -- Such as `1080p`; `audio` for the shared audio.
  name text not null,
  kind text not null check (kind in ('VIDEO', 'AUDIO')),
  status text not null check (status in ('PENDING', 'PROCESSING', 'READY')),
  -- Folder (`r<revision>a<attempt>`) of its files, set when they are complete.
  folder text,
  width integer,
  height integer,
  frame_rate double precision,
  -- Of video; null for audio.
  codec text check (codec in ('H264', 'HEVC', 'AV1')),
  -- RFC 6381.
  codecs text,
  -- RFC 8216bis: PQ and HLG are HDR.
  video_range text not null default 'SDR' check (video_range in ('SDR', 'PQ', 'HLG')),
  -- Bits per second.
  average_bitrate integer,
  peak_bitrate integer,
  -- Peak bitrate of the keyframe playlist (`iframes.m3u8`); null for audio and older renditions.
  iframe_bitrate integer,
  -- Audio track of the source from 0, the default. A track may have a stereo and a surround rendition.
  track integer,
  language text,
  label text,
  channels integer,
  is_description boolean not null default false,
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
  -- Comes with the file, so it is replaced with it.
  from_source boolean not null default false,
  -- Order within the file; 0 for uploaded captions.
  position integer not null default 0,
  is_default boolean not null default false,
  -- File name below the video's `captions/`, never reused, so that it can be cached forever.
  file text not null,
  created_at timestamptz not null default now(),
  unique (video_id, language)
);

-- Recently counted views, by a hash of the viewer.
create table video_view (
  video_id text not null references video (id) on delete cascade,
  viewer bytea not null,
  counted_at timestamptz not null,
  primary key (video_id, viewer)
);
create index video_view_counted on video_view (counted_at);

-- Progress of the processing of each video.
create table video_processing (
  video_id text not null references video (id) on delete cascade,
  revision integer not null,
  -- JSON of `SourceInfo` and `LadderPlan` (src/media/contract), so that later jobs start with them.
  source text not null,
  ladder text not null,
  -- WHOLE is encoded in one run. SPLIT is to be cut into chunks. CHUNKS has been cut.
  mode text not null check (mode in ('WHOLE', 'SPLIT', 'CHUNKS')),
  -- Rungs are cut at the source's keyframes.
  align_to_source boolean not null,
  images_done boolean not null default false,
  captions_done boolean not null,
  -- Number of times the jobs were enqueued again because none was left.
  restart_count integer not null default 0,
  last_activity_at timestamptz not null,
  primary key (video_id, revision)
);

create table video_chunk (
  video_id text not null references video (id) on delete cascade,
  revision integer not null,
  number integer not null,
  start_sec double precision not null,
  duration_sec double precision not null,
  -- Store key of the chunk of the source.
  source_key text not null,
  -- Folder of its encoded rungs, set when they are complete.
  folder text,
  progress_percent double precision not null default 0,
  primary key (video_id, revision, number)
);

-- Folders given to runs. Each run has its own, so two runs never share a file.
create table video_folder (
  video_id text not null references video (id) on delete cascade,
  revision integer not null,
  number integer not null,
  primary key (video_id, number)
);

-- Last automatic captions requested for a video.
create table video_transcription (
  video_id text primary key references video (id) on delete cascade,
  status text not null check (status in ('QUEUED', 'PROCESSING', 'READY', 'FAILED')),
  -- BCP 47: the requested language, then the detected one; null until it is detected.
  language text,
  -- Message for the owner, of FAILED.
  error text,
  requested_at timestamptz not null,
  ended_at timestamptz
);

-- Replacements of the file of a video, which stays playable meanwhile.
create table video_replacement (
  video_id text not null references video (id) on delete cascade,
  -- Revision that its files are created in; the video's from READY on.
  revision integer not null,
  status text not null check (status in ('UPLOADING', 'QUEUED', 'PROCESSING', 'READY', 'FAILED', 'CANCELED')),
  upload_id text,
  import_id text,
  -- Null before the file has arrived, and after it has moved to the video or was deleted.
  original_key text,
  size_bytes bigint,
  -- Size of the new file in addition to the current one.
  storage_bytes bigint not null default 0,
  progress_percent double precision not null default 0,
  duration_sec double precision,
  width integer,
  height integer,
  frame_rate double precision,
  image_folder text,
  has_storyboard boolean not null default false,
  has_preview boolean not null default false,
  chapters jsonb not null default '[]',
  processing_notes jsonb not null default '[]',
  -- Captions of the new file, which become the video's with it.
  captions jsonb not null default '[]',
  error_code text,
  error_message text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  ended_at timestamptz,
  -- Replaced files, kept for players that still read them; null when they are deleted.
  previous_kept_until timestamptz,
  previous_revision integer,
  previous_original_key text,
  previous_image_folder text,
  previous_captions text[] not null default '{}',
  previous_storage_bytes bigint not null default 0,
  primary key (video_id, revision),
  constraint video_replacement_source_check check (num_nonnulls(upload_id, import_id) = 1)
);
-- One at a time.
create unique index video_replacement_open on video_replacement (video_id)
  where status in ('UPLOADING', 'QUEUED', 'PROCESSING');
create index video_replacement_unfinished on video_replacement (updated_at) where status in ('QUEUED', 'PROCESSING');
create index video_replacement_previous on video_replacement (previous_kept_until)
  where previous_kept_until is not null;

-- Worker processes that take encodes. One without a recent heartbeat has ended.
create table transcode_node (
  id text primary key,
  slots integer not null,
  last_seen_at timestamptz not null
);

create table upload (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  video_id text not null references video (id) on delete cascade,
  status text not null check (status in ('WAITING', 'UPLOADING', 'COMPLETED', 'CANCELED', 'EXPIRED', 'FAILED')),
  protocol text not null default 'TUS' check (protocol in ('TUS', 'PUT')),
  -- The file replaces that of the video.
  replaces boolean not null default false,
  -- SHA-256 of the secret part of `uploadUrl`; the encrypted one is shown again to its owner.
  token_hash bytea not null,
  token_encrypted bytea not null,
  -- Key and team member that opened the upload; it accepts bytes while they may write. Null for the owner, and for
  -- uploads from ended sessions.
  key_id text,
  created_by text,
  cors_origin text,
  filename text not null,
  mime_type text not null,
  -- Null until the client sends it (tus `Upload-Defer-Length`).
  size_bytes bigint,
  received_bytes bigint not null default 0,
  sha256 text,
  -- State of the storage driver: a multipart ID and its parts.
  storage_state jsonb not null default '{}',
  -- The store has bytes that belong to no video; they are deleted if the upload fails.
  has_bytes boolean not null default false,
  -- Lease of the request that writes: one at a time, on any node.
  writer text,
  writer_heartbeat_at timestamptz,
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
create index upload_uncleared on upload (id) where has_bytes and ended_at is not null;
create index upload_whole on upload (id) where ended_at is null and received_bytes = size_bytes;
create index upload_open_workspace on upload (workspace_id) where ended_at is null;
create index upload_state on upload (workspace_id, status, id collate "C" desc);

-- Files that are downloaded from a URL.
create table import (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  -- Video that the file becomes; a retry creates another one. Null after it was purged.
  video_id text references video (id) on DELETE SET null,
  source_url text not null,
  provider text not null check (provider in ('URL', 'S3', 'YOUTUBE', 'VIMEO', 'TWITCH', 'PEERTUBE')),
  status text not null check (status in ('PENDING', 'DOWNLOADING', 'PROCESSING', 'COMPLETED', 'FAILED', 'CANCELED')),
  -- The file replaces that of the video.
  replaces boolean not null default false,
  -- Properties of the video, as requested.
  title text not null,
  visibility text not null check (visibility in ('PUBLIC', 'UNLISTED', 'PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE')),
  metadata jsonb not null default '{}',
  -- Null until the server sends it.
  bytes_total bigint,
  bytes_received bigint not null default 0,
  -- ETag or Last-Modified of the received bytes, which lets a download resume.
  validator text,
  -- State of the storage driver; null before the first byte.
  storage_state jsonb,
  error_code text,
  error_message text,
  event_sequence integer not null default 0,
  created_at timestamptz not null default now(),
  completed_at timestamptz
);
create index import_workspace on import (workspace_id, id desc);
create index import_video on import (video_id);
create index import_state on import (workspace_id, provider, status, id collate "C" desc);

create table playlist (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  title text not null,
  description text,
  visibility text not null check (visibility in ('PUBLIC', 'UNLISTED', 'PRIVATE')),
  -- Video whose thumbnail was chosen; ignored unless it is an item.
  thumbnail_video_id text references video (id) on DELETE SET null,
  event_sequence integer not null default 0,
  created_at timestamptz not null default now(),
  -- Changes with each change of the playlist or its items.
  updated_at timestamptz not null default now()
);
create index playlist_workspace on playlist (workspace_id, id desc);
create index playlist_thumbnail on playlist (thumbnail_video_id) where thumbnail_video_id is not null;
create index playlist_state on playlist (workspace_id, visibility, id collate "C" desc);

create table playlist_item (
  id text primary key,
  playlist_id text not null references playlist (id) on delete cascade,
  video_id text not null references video (id) on delete cascade,
  -- 0 to n - 1, without gaps.
  position integer not null check (position >= 0),
  note text,
  start_sec double precision,
  stop_sec double precision,
  added_at timestamptz not null default now(),
  unique (playlist_id, position) deferrable initially deferred
);
create index playlist_item_video on playlist_item (video_id);
