-- So far back viewers can go while a stream is live, in seconds; 0: as far as the live window.
alter table stream add column dvr_window_sec integer not null default 0
  constraint stream_dvr_window check (dvr_window_sec between 0 and 14400);

-- Finished segments of broadcasts that are on, in the store; a row for each media sequence number.
create table dvr_segment (
  stream_id text not null references stream (id) on delete cascade,
  workspace_id text not null references workspace (id) on delete cascade,
  -- The folder and the file, as the playlists name them.
  epoch text not null,
  file text not null,
  -- Its media sequence number and its discontinuity sequence number.
  seq bigint not null,
  disc integer not null,
  -- Milliseconds since the Unix epoch of its first frame, and how long it lasts in the rung that has most of it.
  start_ms double precision not null,
  duration_sec double precision not null,
  rungs jsonb not null,
  -- What it takes of the storage.
  size_bytes bigint not null,
  primary key (stream_id, epoch, file)
);
create index dvr_segment_time on dvr_segment (stream_id, start_ms);
