-- Recordings of broadcasts: the video that each becomes, and the files that the recorders wrote.

create index video_session on video (session_id) where session_id is not null;

-- There is one as soon as a recorder was started for the session.
create table recording (
  session_id text primary key references stream_session (id) on delete cascade,
  workspace_id text not null references workspace (id) on delete cascade,
  stream_id text not null,
  -- Set when the broadcast has ended and something of it was recorded.
  video_id text unique,
  -- When the video had its original, or its failure: no part is taken any more.
  settled_at timestamptz,
  -- When stream.recording_ready was said.
  ready_said_at timestamptz,
  created_at timestamptz not null
);

-- One row for each run of a recorder. Ids sort by time.
create table recording_part (
  id text primary key,
  session_id text not null references recording (session_id) on delete cascade,
  node_id text not null,
  started_at timestamptz not null,
  -- When its node last said that it still has it.
  seen_at timestamptz not null,
  has_media boolean not null default false,
  -- Closed: nothing more is written. Without a size it holds nothing, or was lost with its node.
  closed_at timestamptz,
  size_bytes bigint
);
create index recording_part_session on recording_part (session_id);
create index recording_part_open on recording_part (node_id) where closed_at is null;
