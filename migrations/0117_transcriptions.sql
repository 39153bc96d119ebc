-- The last automatic captioning of a video that was asked for, and what came of it.
create table video_transcription (
  video_id text primary key references video (id) on delete cascade,
  status text not null check (status in ('QUEUED', 'PROCESSING', 'READY', 'FAILED')),
  -- BCP 47: what was asked for, then what was heard; null while that is to be found out.
  language text,
  -- In words for the owner; of FAILED.
  error text,
  requested_at timestamptz not null,
  ended_at timestamptz
);
