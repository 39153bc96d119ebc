-- Streams, their sessions and viewers, chat, DVR, recordings, restreams, bridges, WHIP and WHEP.

create table stream (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  title text not null,
  description text,
  visibility text not null check (visibility in ('PUBLIC', 'UNLISTED', 'PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE')),
  -- Tiers whose members may watch a stream of visibility TIER; empty means any.
  tier_ids text[] not null default '{}',
  -- SHA-256 of the stream key, for lookup; the encrypted key is shown again to its owner.
  key_hash bytea not null,
  key_encrypted bytea not null,
  enabled boolean not null default true,
  has_signal boolean not null default false,
  is_live boolean not null default false,
  latency_mode text not null default 'STANDARD' check (latency_mode in ('STANDARD', 'LOW')),
  -- Viewers can seek back this far while the stream is live; 0 means within the live window.
  dvr_window_sec integer not null default 0 constraint stream_dvr_window check (dvr_window_sec between 0 and 14400),
  record boolean not null default false,
  record_visibility text not null default 'PRIVATE'
    check (record_visibility in ('PUBLIC', 'UNLISTED', 'PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE')),
  reconnect_window_sec integer not null default 120,
  auto_start boolean not null default false,
  auto_stop_after_sec integer,
  max_duration_sec integer,
  chat_enabled boolean not null default true,
  chat_mode text not null default 'OPEN' check (chat_mode in ('OPEN', 'FOLLOWERS', 'TIER', 'OFF')),
  slow_mode_sec integer not null default 0,
  -- Whole words that no chat message may contain, in any case.
  banned_words text[] not null default '{}',
  scheduled_start_at timestamptz,
  metadata jsonb not null default '{}',
  external_id text,
  -- Restreams of the stream, oldest first; copied from restream.
  restream_ids text[] not null default '{}',
  current_session_id text,
  -- When the broadcast was started; started_at is when it also had media.
  live_since timestamptz,
  started_at timestamptz,
  ended_at timestamptz,
  last_signal_at timestamptz,
  signal_lost_at timestamptz,
  health jsonb,
  viewer_count integer not null default 0,
  peak_viewers integer not null default 0,
  -- Deduplication of broadcast events: times of the last ones, and their last content.
  broadcast_started_notified_at timestamptz,
  broadcast_stopped_notified_at timestamptz,
  notified_is_live boolean not null default false,
  broadcast_notify_at timestamptz,
  -- Last report of a stopped signal that was never broadcast.
  signal_stop_notified_at timestamptz,
  -- Last reported health; reported at most once a minute.
  notified_health_issues text[] not null default '{}',
  health_notified_at timestamptz,
  -- When a health change that came too early is reported.
  health_notify_at timestamptz,
  -- Planned start that was announced 15 minutes ahead.
  schedule_notified_for timestamptz,
  -- Sequence number of the last event, except for the four broadcast events.
  event_sequence integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  taken_down_at timestamptz,
  takedown_reason text,
  constraint stream_takedown_reason check ((taken_down_at is null) = (takedown_reason is null))
);
create unique index stream_key_hash on stream (key_hash);
create index stream_workspace on stream (workspace_id, id desc) where deleted_at is null;
create index stream_broadcast_notify on stream (broadcast_notify_at) where broadcast_notify_at is not null;
create index stream_live on stream (workspace_id) where is_live;
create index stream_scheduled on stream (scheduled_start_at) where scheduled_start_at is not null;
create index stream_health_notify on stream (health_notify_at) where health_notify_at is not null;
create index stream_has_signal on stream (id) where has_signal;
create index stream_on_air on stream (id) where has_signal or is_live;
create index stream_signal on stream (workspace_id) where has_signal;
create index stream_state on stream (workspace_id, visibility, enabled, id collate "C" desc) where deleted_at is null;

-- Sessions of a stream: from its signal's start to its end, with the broadcast within.
create table stream_session (
  id text primary key,
  stream_id text not null references stream (id) on delete cascade,
  workspace_id text not null references workspace (id) on delete cascade,
  signal_started_at timestamptz not null,
  signal_ended_at timestamptz,
  broadcast_started_at timestamptz,
  broadcast_ended_at timestamptz,
  -- Usage up to then has been recorded.
  metered_until timestamptz,
  peak_viewers integer not null default 0,
  unique_viewers integer not null default 0,
  error text
);
create index stream_session_list on stream_session (stream_id, id desc);
create index stream_session_on_air on stream_session (id)
  where broadcast_started_at is not null and broadcast_ended_at is null;

-- One row per encoder connection. A lost one stays for the reconnect window: lost_at is set, and the stream keeps its
-- signal until grace_until.
create table ingest_session (
  id text primary key,
  stream_id text not null references stream (id) on delete cascade,
  node_id text not null,
  protocol text not null,
  started_at timestamptz not null,
  last_seen_at timestamptz not null,
  video jsonb,
  audio jsonb,
  lost_at timestamptz,
  grace_until timestamptz,
  disconnect_reason text,
  ended_at timestamptz,
  end_reason text
);
create unique index ingest_session_open on ingest_session (stream_id) where ended_at is null;
create index ingest_session_node on ingest_session (node_id) where ended_at is null;
create index ingest_session_stream on ingest_session (stream_id, ended_at desc);

-- Streams of test workspaces whose signal the platform generates.
create table signal_simulation (
  stream_id text primary key references stream (id) on delete cascade,
  workspace_id text not null references workspace (id) on delete cascade,
  ends_at timestamptz not null,
  -- Media node that generates it, and its last heartbeat.
  node_id text,
  last_seen_at timestamptz
);
create index signal_simulation_workspace on signal_simulation (workspace_id);

-- Health of each signal in the last hour, one point per ten seconds. No foreign key: it would lock the stream's row.
create table stream_health_point (
  stream_id text not null,
  -- Start of the ten seconds.
  at timestamptz not null,
  bitrate_kbps integer not null,
  fps double precision not null,
  keyframe_interval_ms integer,
  dropped_frames integer not null,
  late_frames integer not null,
  av_drift_ms integer,
  primary key (stream_id, at)
);
create index stream_health_point_at on stream_health_point (at);

-- Shared by all nodes and deleted after the next day; then viewer hashes cannot be recomputed.
create table viewer_salt (
  -- UTC, such as 2026-11-20.
  day text primary key,
  salt_encrypted bytea not null
);

-- Viewers of broadcasts, as hashes. No foreign key: it would lock the stream's row; a task deletes leftovers.
create table stream_viewer (
  stream_id text not null,
  -- Hash of IP, browser and token, for this session only.
  viewer bytea not null,
  -- Null for a broadcast that has had no signal yet.
  session_id text,
  salt_day text not null,
  -- The player reports its presence, so playlist requests do not count.
  has_beacon boolean not null,
  present_until timestamptz not null,
  -- Included in the last count of the stream.
  is_counted boolean not null default false,
  primary key (stream_id, viewer)
) with (fillfactor = 80);

-- Broadcasts that had viewers: they are counted until the end.
create table watched_stream (
  stream_id text primary key references stream (id) on delete cascade,
  -- Last sample of the number of viewers.
  sampled_at timestamptz,
  sampled_viewers integer
);

-- URLs at which media nodes serve their live windows to other nodes.
create table media_node (
  -- As in ingest_session.
  id text primary key,
  url text not null,
  last_seen_at timestamptz not null
);

-- Last entry of each event stream. The row is locked while an entry is appended, so numbers have no gaps and commit
-- in order.
create table stream_log_head (
  stream_id text not null references stream (id) on delete cascade,
  tail text not null check (tail in ('CHAT', 'RESTREAM', 'STATUS')),
  seq bigint not null,
  at timestamptz not null,
  primary key (stream_id, tail)
);

-- Recent entries of event streams, from which a reconnecting reader gets what it missed, on any node.
create table stream_log (
  stream_id text not null,
  tail text not null check (tail in ('CHAT', 'RESTREAM', 'STATUS')),
  seq bigint not null,
  -- Never before that of the previous entry.
  at timestamptz not null,
  event text not null,
  -- JSON as sent; null where the content was removed.
  body text,
  primary key (stream_id, tail, seq),
  foreign key (stream_id, tail) references stream_log_head (stream_id, tail) on delete cascade
);
create index stream_log_age on stream_log (tail, at);

-- Chat history; event streams resume from stream_log.
create table chat_message (
  id text primary key,
  stream_id text not null references stream (id) on delete cascade,
  -- Number of the entry in stream_log, which orders the history.
  seq bigint not null,
  at timestamptz not null,
  -- SYSTEM messages come from the platform and have no author.
  kind text not null default 'MESSAGE' check (kind in ('MESSAGE', 'SYSTEM')),
  text text not null,
  -- Account of the stream, or a guest of this stream.
  author_id text,
  -- Name a guest has chosen; null for the account.
  guest_name text,
  reply_to_id text,
  -- Set by the client, so that a repeated message is recognized.
  client_id text,
  created_at timestamptz not null,
  deleted_at timestamptz,
  unique (stream_id, seq),
  check ((kind = 'SYSTEM') = (author_id is null))
);
create index chat_message_author on chat_message (stream_id, author_id, seq desc);
create index chat_message_created on chat_message (created_at);
create index chat_message_time on chat_message (stream_id, created_at);

create table chat_ban (
  id text primary key,
  stream_id text not null references stream (id) on delete cascade,
  author_id text not null,
  -- Null: until it is lifted.
  expires_at timestamptz,
  created_at timestamptz not null,
  unique (stream_id, author_id)
);

-- Finished segments of current broadcasts in the store.
create table dvr_segment (
  stream_id text not null references stream (id) on delete cascade,
  workspace_id text not null references workspace (id) on delete cascade,
  -- Folder and file, as in the playlists.
  epoch text not null,
  file text not null,
  -- Media sequence number and discontinuity sequence number.
  seq bigint not null,
  discontinuity integer not null,
  -- Time of the first frame in milliseconds since the Unix epoch, and the duration of the longest rendition.
  start_ms double precision not null,
  duration_sec double precision not null,
  rungs jsonb not null,
  -- Counted as storage.
  size_bytes bigint not null,
  primary key (stream_id, epoch, file)
);
create index dvr_segment_time on dvr_segment (stream_id, start_ms);

-- Recordings of broadcasts. A broadcast longer than a video has several; the first has the ID of the session.
create table recording (
  id text primary key,
  session_id text not null references stream_session (id) on delete cascade,
  number integer not null default 1,
  workspace_id text not null references workspace (id) on delete cascade,
  stream_id text not null,
  -- Set when the broadcast has ended and media was recorded.
  video_id text unique,
  -- When the video got its file or failed: parts are no longer accepted.
  settled_at timestamptz,
  -- When stream.recording_ready was emitted.
  ready_notified_at timestamptz,
  created_at timestamptz not null,
  constraint recording_number unique (session_id, number)
);

-- One row per run of a recorder. IDs sort by time.
create table recording_part (
  id text primary key,
  recording_id text not null references recording (id) on delete cascade,
  node_id text not null,
  started_at timestamptz not null,
  -- Last heartbeat of the node that has the file.
  last_seen_at timestamptz not null,
  has_media boolean not null default false,
  -- Nothing is written afterwards. Without a size the part is empty or was lost with its node.
  closed_at timestamptz,
  size_bytes bigint,
  -- Storage of the workspace used until the video has the file.
  reserved_bytes bigint not null default 0
);
create index recording_part_recording on recording_part (recording_id);
create index recording_part_open on recording_part (node_id) where closed_at is null;

create table restream (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  stream_id text not null references stream (id) on delete cascade,
  name text not null,
  enabled boolean not null default true,
  start_mode text not null check (start_mode in ('WITH_BROADCAST', 'WITH_SIGNAL', 'MANUAL')),
  -- Last manual request; AUTO follows the start mode.
  manual_override text not null default 'AUTO' check (manual_override in ('AUTO', 'STARTED', 'STOPPED')),
  -- Whether it sends or tries to; set by the reconciliation with its stream.
  is_running boolean not null default false,
  -- Of the request that created it, so that a repetition finds it (docs/decisions/idempotency.md#leases).
  operation_id text unique,
  -- Sequence number of the last event about it and its targets.
  event_sequence integer not null default 0,
  started_at timestamptz,
  stopped_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index restream_workspace on restream (workspace_id, id desc);
create index restream_stream on restream (stream_id);
create index restream_running on restream (id) where is_running;
create index restream_workspace_running on restream (workspace_id) where is_running;

create table restream_target (
  id text primary key,
  restream_id text not null references restream (id) on delete cascade,
  name text not null,
  platform text not null check (platform in ('YOUTUBE', 'TWITCH', 'FACEBOOK', 'KICK', 'X', 'CUSTOM')),
  url text not null,
  -- Encrypted; null where the URL has none.
  stream_key bytea,
  stream_key_last4 text,
  -- Encrypted; of an encrypted SRT target.
  passphrase bytea,
  enabled boolean not null default true,
  state text not null default 'IDLE' check (state in ('IDLE', 'CONNECTING', 'BROADCASTING', 'ERRORED')),
  error_severity text check (error_severity in ('NORMAL', 'FATAL')),
  error_message text,
  -- Failed attempts since it last sent for a while.
  retry_count integer not null default 0,
  next_retry_at timestamptz,
  connected_at timestamptz,
  bitrate_kbps integer,
  -- Kept when it sends again.
  last_failure_at timestamptz,
  last_failure text,
  -- A new value starts a new connection.
  revision integer not null default 1,
  -- The one node that may send, and until when.
  node_id text,
  lease_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((state = 'ERRORED') = (error_severity is not null))
);
create index restream_target_restream on restream_target (restream_id, id);
create index restream_target_node on restream_target (node_id) where node_id is not null;

-- Media between two resources of a workspace: an external source or a room into a stream, or a stream into a room.
create table bridge (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  type text not null check (type in ('ROOM_TO_STREAM', 'PULL_TO_STREAM', 'STREAM_TO_ROOM')),
  -- Room or stream; null where the source is a URL.
  source_id text,
  -- Encrypted, because it may contain a password; the redacted one can be shown.
  source_url bytea,
  source_url_redacted text,
  -- Stream or room.
  target_id text not null,
  layout text check (layout in ('GRID', 'SPEAKER', 'SINGLE')),
  auto_restart boolean not null default false,
  status text not null default 'PENDING' check (status in ('PENDING', 'CONNECTING', 'ACTIVE', 'FAILED', 'STOPPED')),
  error text,
  -- Reason for STOPPED.
  end_reason text
    check (end_reason in (
      'SOURCE_ENDED', 'TARGET_ENDED', 'TARGET_TAKEN', 'EXPIRED', 'SUSPENDED', 'REMOVED', 'DELETED')),
  -- Failed attempts since it last carried media for a while.
  retry_count integer not null default 0,
  next_retry_at timestamptz,
  -- The one node that may run it, and until when.
  node_id text,
  lease_until timestamptz,
  event_sequence integer not null default 0,
  expires_at timestamptz,
  started_at timestamptz,
  stopped_at timestamptz,
  created_at timestamptz not null,
  check ((source_id is null) <> (source_url is null)),
  check ((status = 'STOPPED') = (end_reason is not null))
);
create index bridge_workspace on bridge (workspace_id, id desc);
create index bridge_open on bridge (target_id) where status not in ('FAILED', 'STOPPED');
-- A stream has one source at a time.
create unique index bridge_feeds on bridge (target_id)
  where type <> 'STREAM_TO_ROOM' and status not in ('FAILED', 'STOPPED');
create index bridge_source on bridge (source_id) where status not in ('FAILED', 'STOPPED');
create index bridge_state on bridge (workspace_id, type, status, id collate "C" desc);
create index bridge_target on bridge (target_id, type, status, id collate "C" desc);

-- One row per WHIP publish session: the API role writes the offer, the media role the answer. The rows concern open
-- connections only, so a crash may empty the table.
create unlogged table whip_session (
  -- SHA-256 of the secret in the URL of the session.
  id text primary key,
  stream_id text not null,
  -- Media node that serves it: the first one to claim it.
  node_id text,
  state text not null check (state in ('OFFERED', 'ANSWERED', 'REFUSED', 'ENDING')),
  offer text not null,
  -- SDP answer, or the reason why there is none.
  answer text,
  -- Last heartbeat of the media node; null before the first.
  heartbeat_at timestamptz,
  created_at timestamptz not null
);
create index whip_session_node on whip_session (node_id);

-- One row per WHEP viewer, like whip_session.
create unlogged table whep_session (
  -- SHA-256 of the secret in the URL of the session.
  id text primary key,
  stream_id text not null,
  -- Media node that serves it: the one with the signal.
  node_id text,
  state text not null check (state in ('OFFERED', 'ANSWERED', 'REFUSED', 'ENDING')),
  offer text not null,
  -- SDP answer, or the reason why there is none.
  answer text,
  refusal text check (refusal in ('OFFER', 'SIGNAL', 'FULL')),
  sent_bytes bigint not null default 0,
  -- Keyed hash of the viewer's IP, which limits viewers per address.
  ip_hash text,
  -- The viewer may watch until then, unless the API role extends it.
  admitted_until timestamptz not null,
  -- Last heartbeat of the media node; null before the first.
  heartbeat_at timestamptz,
  created_at timestamptz not null
);
create index whep_session_node on whep_session (node_id);
create index whep_session_ip_hash on whep_session (ip_hash);
