-- What happened to content and what was used, a row each, and the sums of it that are read.

-- Day partitions by when it happened, on the server's clock. Nothing here names a person: `viewer` is a hash with the
-- salt of its day, which is gone after the next one. No foreign keys: they would lock a row of the workspace for every
-- batch.
create table fact (
  created_at timestamptz not null,
  -- Given by who writes it: a batch that is written again after a lost connection is one.
  id text not null,
  -- Tells the sums what was committed since the last one.
  xid xid8 not null default pg_current_xact_id(),
  workspace_id text not null,
  kind text not null check (kind in (
    'BEACON', 'VIEW', 'IMPRESSION', 'JOIN', 'LEAVE', 'PRESENCE', 'CHAT', 'FOLLOW', 'UNFOLLOW', 'BROADCAST', 'LIVE',
    'REQUEST', 'DELIVERY', 'EGRESS', 'ENCODE', 'ROOM', 'STORAGE')),
  -- The video or stream; null for what concerns the workspace alone.
  subject_id text,
  -- How many, in the unit of its kind: milliseconds, bytes, people, or pieces.
  amount bigint not null default 1,
  viewer bytea,
  -- ISO 3166-1, ZZ where nobody knows.
  country text,
  device text,
  browser text,
  os text,
  -- A host; null for what came directly.
  referrer text,
  is_bot boolean not null default false,
  -- Of a session of the account that owns the content.
  is_self boolean not null default false,
  -- Of beacons: the session that the page was given, its number, and what the player told.
  playback_session text,
  number integer,
  player_events jsonb,
  -- Of LIVE: the mean bitrate in this time.
  bitrate_kbps integer,
  -- Of REQUEST: by which key, and with which answer.
  key_id text,
  status smallint,
  primary key (created_at, id)
) partition by range (created_at);
create index fact_xid on fact (xid);
create index fact_playback_session on fact (playback_session, number) where playback_session is not null;
create table fact_default partition of fact default;

-- Up to where the sums below count: one row.
create table fact_sum_state (
  is_only boolean primary key default true check (is_only),
  -- Every transaction below this one is counted.
  next_xid xid8 not null,
  -- All that was committed until then.
  fresh_until timestamptz not null,
  -- When every transaction below the mark is counted, all is that was committed until then.
  mark_xid xid8,
  mark_at timestamptz
);

-- By quarter-hour and again by UTC day: the days of any zone are quarters at both ends and UTC days between them.
create table analytics_total (
  workspace_id text not null,
  -- 'ACCOUNT', 'VIDEO' or 'STREAM'; the id of an account's sums is empty.
  subject_kind text not null check (subject_kind in ('ACCOUNT', 'VIDEO', 'STREAM')),
  subject_id text not null,
  -- Minutes.
  span smallint not null check (span in (15, 1440)),
  at timestamptz not null,
  is_self boolean not null,
  views bigint not null default 0,
  -- Each viewer of a UTC day once, in the quarter-hour of the first sign.
  unique_viewers bigint not null default 0,
  watch_ms bigint not null default 0,
  impressions bigint not null default 0,
  -- Sessions that began to play.
  plays bigint not null default 0,
  joins bigint not null default 0,
  leaves bigint not null default 0,
  chat_messages bigint not null default 0,
  new_followers bigint not null default 0,
  lost_followers bigint not null default 0,
  broadcasts bigint not null default 0,
  live_ms bigint not null default 0,
  -- Samples of who is there: their highest, their sum and how many.
  peak_viewers bigint not null default 0,
  viewer_samples_sum bigint not null default 0,
  viewer_samples bigint not null default 0,
  -- Kilobits: bitrate times milliseconds over 1000; divided by live_ms it is the mean.
  bitrate_kbit bigint not null default 0,
  primary key (workspace_id, subject_kind, subject_id, span, at, is_self)
);
create index analytics_total_at on analytics_total (workspace_id, subject_kind, span, at);

create table analytics_share (
  workspace_id text not null,
  subject_kind text not null check (subject_kind in ('ACCOUNT', 'VIDEO', 'STREAM')),
  subject_id text not null,
  dimension text not null check (dimension in ('country', 'device', 'browser', 'os', 'referrer', 'quality', 'source')),
  value text not null,
  span smallint not null check (span in (15, 1440)),
  at timestamptz not null,
  is_self boolean not null,
  views bigint not null default 0,
  unique_viewers bigint not null default 0,
  watch_ms bigint not null default 0,
  primary key (workspace_id, subject_kind, subject_id, dimension, span, value, at, is_self)
);

-- How often each second of a video was watched, by UTC day.
create table analytics_retention (
  workspace_id text not null,
  video_id text not null,
  at timestamptz not null,
  is_self boolean not null,
  -- Of each second, the first is that of 0 to 1.
  watched integer[] not null,
  primary key (workspace_id, video_id, at, is_self)
);

-- Who was counted as unique today; gone with the salts.
create table analytics_seen (
  at timestamptz not null,
  workspace_id text not null,
  subject_id text not null,
  -- Empty for the sums themselves, otherwise the dimension and value of a share.
  share text not null,
  viewer bytea not null,
  is_self boolean not null,
  -- The quarter-hour of the first sign, which is the one it is counted in.
  first_at timestamptz not null,
  primary key (at, workspace_id, subject_id, share, viewer, is_self)
);

create table usage_total (
  workspace_id text not null,
  -- In the unit of its kind of fact; of storage the highest of the span.
  metric text not null check (metric in ('STORAGE', 'EGRESS', 'ENCODE', 'LIVE', 'ROOM', 'REQUEST', 'DELIVERY')),
  span smallint not null check (span in (15, 1440)),
  at timestamptz not null,
  amount bigint not null,
  primary key (workspace_id, metric, span, at)
);

create table usage_request (
  workspace_id text not null,
  -- Empty for a session of the dashboard.
  key_id text not null,
  -- A UTC day.
  at timestamptz not null,
  requests bigint not null,
  errors_4xx bigint not null,
  errors_5xx bigint not null,
  rate_limited bigint not null,
  primary key (workspace_id, at, key_id)
);
