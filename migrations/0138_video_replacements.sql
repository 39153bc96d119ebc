-- The file of a video is replaced while the video goes on playing.

create table video_replacement (
  video_id text not null references video (id) on delete cascade,
  -- Its files are made in it; it is that of the video from READY on.
  revision integer not null,
  status text not null
    check (status in ('UPLOADING', 'QUEUED', 'PROCESSING', 'READY', 'FAILED', 'CANCELED')),
  upload_id text not null,
  -- Null before the file has come, and when it has gone to the video or was removed.
  original_key text,
  size_bytes bigint,
  -- What the new file takes beside the one that plays.
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
  -- Those of the new file, which become the video's with it.
  captions jsonb not null default '[]',
  error_code text,
  error_message text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  ended_at timestamptz,
  -- What was replaced, for players in the middle of it; null when it is removed.
  former_kept_until timestamptz,
  former_revision integer,
  former_original_key text,
  former_image_folder text,
  former_captions text[] not null default '{}',
  former_storage_bytes bigint not null default 0,
  primary key (video_id, revision)
);

-- One at a time.
create unique index video_replacement_open on video_replacement (video_id)
  where status in ('UPLOADING', 'QUEUED', 'PROCESSING');
create index video_replacement_unfinished on video_replacement (updated_at)
  where status in ('QUEUED', 'PROCESSING');
create index video_replacement_former on video_replacement (former_kept_until)
  where former_kept_until is not null;

-- The file that plays and the one that is being processed.
alter table video_processing drop constraint video_processing_pkey;
alter table video_processing add primary key (video_id, revision);

-- Brings the file of a replacement; otherwise the first one of its video.
alter table upload add column replaces boolean not null default false;
