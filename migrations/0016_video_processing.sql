-- How far the processing of each video is, who writes its files where, and the nodes that can encode.

-- What the probe found and what is to be made of it, so that every later job begins with it.
create table video_processing (
  video_id text primary key references video (id) on delete cascade,
  revision integer not null,
  -- JSON of `SourceInfo` and `LadderPlan` (src/media/contract.ts).
  source text not null,
  ladder text not null,
  -- WHOLE: encoded in one piece. SPLIT: to be cut into chunks first. CHUNKS: has been cut.
  mode text not null check (mode in ('WHOLE', 'SPLIT', 'CHUNKS')),
  -- The rungs are cut where the source has its keyframes.
  align_to_source boolean not null,
  images_done boolean not null default false,
  -- How often the jobs had to be enqueued again because none was left.
  revivals integer not null default 0,
  touched_at timestamptz not null
);

create index video_unfinished on video (updated_at)
  where status in ('QUEUED', 'PROCESSING') and deleted_at is null;

create table video_chunk (
  video_id text not null references video (id) on delete cascade,
  revision integer not null,
  number integer not null,
  start_sec double precision not null,
  duration_sec double precision not null,
  -- Store key of the piece of the source.
  source_key text not null,
  -- The folder of its encoded rungs, set when they are complete.
  folder text,
  progress_percent double precision not null default 0,
  primary key (video_id, revision, number)
);

-- Every folder that a run was given to write into. One run, one folder: two runs never share a file.
create table video_folder (
  video_id text not null references video (id) on delete cascade,
  revision integer not null,
  number integer not null,
  primary key (video_id, number)
);

-- Worker processes that take encodes. One that has not been seen lately is gone.
create table transcode_node (
  id text primary key,
  slots integer not null,
  seen_at timestamptz not null
);
