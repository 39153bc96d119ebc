-- Rooms, their participants and recordings.

create table room (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  name text not null,
  description text,
  status text not null default 'CREATED' check (status in ('CREATED', 'ACTIVE', 'ENDED')),
  max_participants integer not null,
  empty_timeout_sec integer not null,
  departure_timeout_sec integer not null,
  max_duration_sec integer,
  auto_end_when_alone_sec integer,
  scheduled_start_at timestamptz,
  expires_at timestamptz,
  record_enabled boolean not null,
  record_layout text not null default 'GRID' check (record_layout in ('GRID', 'SPEAKER')),
  waiting_room boolean not null,
  -- Rights of participants, unless their token overrides them.
  can_publish boolean not null,
  can_subscribe boolean not null,
  can_publish_data boolean not null,
  can_screen_share boolean not null,
  metadata jsonb not null,
  -- Set while it is being recorded.
  recording_since timestamptz,
  recording_video_ids text[] not null default '{}',
  -- Since it last became ACTIVE.
  started_at timestamptz,
  peak_participants integer not null default 0,
  -- Since when it is empty, and since when one participant is alone.
  empty_since timestamptz,
  alone_since timestamptz,
  ended_at timestamptz,
  end_reason text check (end_reason in ('CALL', 'DELETED', 'MAX_DURATION', 'EXPIRED', 'ALONE', 'SUSPENDED')),
  -- Sequence number of the last event about it and its participants.
  event_sequence integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((status = 'ENDED') = (end_reason is not null)),
  check ((status = 'ENDED') = (ended_at is not null))
);
create index room_workspace on room (workspace_id, id desc);
create index room_open on room (id) where status <> 'ENDED';
create index room_active on room (workspace_id) where status = 'ACTIVE';
create index room_state on room (workspace_id, status, id collate "C" desc);

-- Stays in a room, from the first connection to the end.
create table room_participant (
  id text primary key,
  room_id text not null references room (id) on delete cascade,
  identity text not null,
  name text,
  role text not null check (role in ('HOST', 'SPEAKER', 'VIEWER')),
  -- Stream that plays in the room, which is a participant but no person.
  bridge_id text,
  can_publish boolean not null,
  can_subscribe boolean not null,
  can_publish_data boolean not null,
  can_screen_share boolean not null,
  -- JOINING waits for admission.
  state text not null check (state in ('JOINING', 'ACTIVE', 'LEFT')),
  leave_reason text
    check (leave_reason in ('CLIENT', 'KICKED', 'DENIED', 'ROOM_ENDED', 'TIMEOUT', 'DUPLICATE_IDENTITY')),
  -- Newest connection, which is authoritative, and its node. Null while there is none.
  connection_id text,
  node_id text,
  -- Since when there is none; the seat is kept for the departure timeout.
  disconnected_since timestamptz,
  -- What the participant reports to send, and what a host has muted.
  audio boolean not null default false,
  video boolean not null default false,
  screen boolean not null default false,
  audio_muted boolean not null default false,
  video_muted boolean not null default false,
  screen_muted boolean not null default false,
  hand_raised boolean not null default false,
  -- Usage up to then has been recorded.
  metered_until timestamptz,
  created_at timestamptz not null,
  joined_at timestamptz,
  left_at timestamptz,
  check ((state = 'LEFT') = (leave_reason is not null)),
  check ((state = 'LEFT') = (left_at is not null)),
  check ((connection_id is null) = (node_id is null))
);
create unique index room_participant_present on room_participant (room_id, identity) where state <> 'LEFT';
create index room_participant_room on room_participant (room_id, id desc);
create index room_participant_open on room_participant (node_id) where state <> 'LEFT';
create index room_participant_bridge on room_participant (bridge_id) where bridge_id is not null;
create index room_participant_active on room_participant (id) where state = 'ACTIVE' and bridge_id is null;
create index room_participant_state on room_participant (room_id, state, id collate "C" desc);
create index room_participant_identity on room_participant (room_id, identity, id desc);

-- Identities that cannot rejoin.
create table room_ban (
  room_id text not null references room (id) on delete cascade,
  identity text not null,
  created_at timestamptz not null,
  primary key (room_id, identity)
);

-- Processes that participants are connected to.
create table room_node (
  id text primary key,
  last_seen_at timestamptz not null
);

-- Messages between nodes, read within seconds and deleted within a minute; a crash may empty the table.
create unlogged table room_message (
  id text primary key,
  room_id text not null,
  node_id text not null,
  -- Null: all participants of the room.
  recipient text,
  body text not null,
  created_at timestamptz not null
);
create index room_message_room on room_message (room_id, created_at);

create table room_recording (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  -- Null after the room was deleted: the video is created regardless.
  room_id text references room (id) on DELETE SET null,
  -- ID of the deleted room, and the number of its last event.
  deleted_room_id text,
  deleted_room_sequence integer,
  title text not null,
  layout text not null default 'GRID' check (layout in ('GRID', 'SPEAKER')),
  -- Node whose media server writes the recording.
  node_id text,
  started_at timestamptz not null,
  ended_at timestamptz,
  -- Set if it ended neither by a call nor with the room.
  end_reason text check (end_reason in ('QUOTA_EXCEEDED', 'DISK_FULL', 'TOO_LONG')),
  -- Storage of the workspace used until the video has the file.
  reserved_bytes bigint not null default 0,
  -- When its files were in the store.
  uploaded_at timestamptz,
  video_id text unique,
  -- When the video got its file or failed.
  settled_at timestamptz,
  -- When room.recording_ready was emitted.
  ready_notified_at timestamptz
);
create unique index room_recording_open on room_recording (room_id) where ended_at is null;
create index room_recording_room on room_recording (room_id, started_at);
create index room_recording_unsettled on room_recording (id) where settled_at is null;
create index room_recording_deleted_room on room_recording (deleted_room_id) where deleted_room_id is not null;
