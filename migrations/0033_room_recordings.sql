-- Recordings of rooms: what the media server writes, and the video that is made of it.

create table room_recording (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  -- Null once the room was deleted: the video is made all the same.
  room_id text references room (id) on delete set null,
  title text not null,
  layout text not null default 'GRID' check (layout in ('GRID', 'SPEAKER')),
  -- Whose media server writes it.
  node_id text,
  started_at timestamptz not null,
  ended_at timestamptz,
  -- Why it ended before somebody stopped it or the room was over.
  end_reason text check (end_reason in ('QUOTA_EXCEEDED', 'DISK_FULL', 'TOO_LONG')),
  -- What it takes of the workspace's storage, until the video has it.
  held_bytes bigint not null default 0,
  -- When its files were in the store.
  collected_at timestamptz,
  video_id text unique,
  -- When the video had its original, or its failure.
  settled_at timestamptz,
  -- When room.recording_ready was said.
  ready_said_at timestamptz
);
create unique index room_recording_open on room_recording (room_id) where ended_at is null;
create index room_recording_room on room_recording (room_id, started_at);
create index room_recording_unsettled on room_recording (id) where settled_at is null;
