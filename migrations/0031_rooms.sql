-- Rooms: people who see and hear each other, and who of them is there.

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
  waiting_room boolean not null,
  -- What those who come may do, unless their token says otherwise.
  can_publish boolean not null,
  can_subscribe boolean not null,
  can_publish_data boolean not null,
  can_screen_share boolean not null,
  metadata jsonb not null,
  -- While it is recorded.
  recording_since timestamptz,
  recording_video_ids text[] not null default '{}',
  -- Of the time since it became ACTIVE last.
  started_at timestamptz,
  peak_participants integer not null default 0,
  -- Nobody is in it, one alone is in it: since then.
  empty_since timestamptz,
  alone_since timestamptz,
  ended_at timestamptz,
  end_reason text check (end_reason in ('CALL', 'DELETED', 'MAX_DURATION', 'EXPIRED', 'ALONE', 'SUSPENDED')),
  -- Counts the events about it and its participants.
  event_sequence integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((status = 'ENDED') = (end_reason is not null)),
  check ((status = 'ENDED') = (ended_at is not null))
);
create index room_workspace on room (workspace_id, id desc);
create index room_open on room (id) where status <> 'ENDED';

-- One stay of somebody in a room, from the first connection until they have left.
create table room_participant (
  id text primary key,
  room_id text not null references room (id) on delete cascade,
  identity text not null,
  name text,
  role text not null check (role in ('HOST', 'SPEAKER', 'VIEWER')),
  can_publish boolean not null,
  can_subscribe boolean not null,
  can_publish_data boolean not null,
  can_screen_share boolean not null,
  -- JOINING waits to be let in.
  state text not null check (state in ('JOINING', 'ACTIVE', 'LEFT')),
  leave_reason text
    check (leave_reason in ('CLIENT', 'KICKED', 'DENIED', 'ROOM_ENDED', 'TIMEOUT', 'DUPLICATE_IDENTITY')),
  -- Whose word counts: the newest connection, and the node that has it. Null while there is none.
  connection_id text,
  node_id text,
  -- Since when there is none; the seat is kept for the departure timeout.
  away_since timestamptz,
  -- What they say they send, and what of it a host has muted.
  audio boolean not null default false,
  video boolean not null default false,
  screen boolean not null default false,
  audio_muted boolean not null default false,
  video_muted boolean not null default false,
  screen_muted boolean not null default false,
  hand boolean not null default false,
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

-- Identities that may not come back.
create table room_ban (
  room_id text not null references room (id) on delete cascade,
  identity text not null,
  created_at timestamptz not null,
  primary key (room_id, identity)
);

-- The processes that people are connected to.
create table room_node (
  id text primary key,
  seen_at timestamptz not null
);

-- What goes from one node to another: read within seconds, and deleted within a minute. A crash may empty it.
create unlogged table room_message (
  id text primary key,
  room_id text not null,
  node_id text not null,
  -- Null: for everybody in the room.
  recipient text,
  body text not null,
  created_at timestamptz not null
);
create index room_message_room on room_message (room_id, created_at);
