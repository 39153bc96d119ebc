-- Usage events, rollups, quota notifications and counters.

-- Views and metered usage, in day partitions by the server's time. No personal data: `viewer` is a hash with the salt
-- of its day. No foreign keys: they would lock a workspace's row for each batch.
create table usage_event (
  created_at timestamptz not null,
  -- Set by the writer, so that a batch written again after a lost connection counts once.
  id text not null,
  -- Lets rollups find rows that were committed since the last one.
  xid xid8 not null default pg_current_xact_id(),
  workspace_id text not null,
  kind text not null
    check (kind in (
      'BEACON', 'VIEW', 'IMPRESSION', 'JOIN', 'LEAVE', 'PRESENCE', 'CHAT', 'FOLLOW', 'UNFOLLOW', 'BROADCAST', 'LIVE',
      'REQUEST', 'DELIVERY', 'EGRESS', 'ENCODE', 'ROOM', 'STORAGE')),
  -- Video or stream; null for events of the workspace.
  subject_id text,
  -- In the unit of its kind: milliseconds, bytes, people or pieces.
  amount bigint not null default 1,
  viewer bytea,
  -- ISO 3166-1; ZZ if unknown.
  country text,
  device text,
  browser text,
  os text,
  -- Host; null for direct visits.
  referrer text,
  is_bot boolean not null default false,
  -- From a session of the account that owns the content.
  is_owner boolean not null default false,
  -- Of beacons: session of the page, sequence number, and events of the player.
  playback_session text,
  sequence_number integer,
  player_events jsonb,
  -- Of LIVE: mean bitrate in this time.
  bitrate_kbps integer,
  -- Of REQUEST: key and status.
  key_id text,
  status smallint,
  primary key (created_at, id)
) partition by range (created_at);
create index usage_event_xid on usage_event (xid);
create index usage_event_playback_session on usage_event (playback_session, sequence_number)
  where playback_session is not null;
create table usage_event_default partition of usage_event default;

-- Progress of the rollups; one row.
create table rollup_state (
  singleton boolean primary key default true check (singleton),
  -- Every transaction below is counted.
  next_xid xid8 not null,
  -- Everything committed until then is counted.
  fresh_until timestamptz not null,
  -- When every transaction below is counted, everything committed until pending_fresh_until is.
  pending_xid xid8,
  pending_fresh_until timestamptz,
  -- Intervals that end until then exist and receive late events; null before the first compaction.
  compacted_until timestamptz
);

-- Intervals of 15 minutes to 64 days, on multiples of their length since 1970. Each is compacted from the shorter
-- ones when it is over (docs/decisions/analytics.md#rollups).
create table analytics_total (
  workspace_id text not null,
  -- The ID of an ACCOUNT is empty.
  subject_kind text not null check (subject_kind in ('ACCOUNT', 'VIDEO', 'STREAM')),
  subject_id text not null,
  interval_min integer not null check (interval_min in (15, 60, 240, 1440, 5760, 23040, 92160)),
  at timestamptz not null,
  is_owner boolean not null,
  views bigint not null default 0,
  -- Each viewer of a UTC day once, in the quarter-hour of the first event.
  unique_viewers bigint not null default 0,
  watch_ms bigint not null default 0,
  impressions bigint not null default 0,
  -- Sessions that started to play.
  plays bigint not null default 0,
  joins bigint not null default 0,
  leaves bigint not null default 0,
  chat_messages bigint not null default 0,
  new_followers bigint not null default 0,
  lost_followers bigint not null default 0,
  broadcasts bigint not null default 0,
  live_ms bigint not null default 0,
  -- Samples of the current viewers: their maximum, sum and number.
  peak_viewers bigint not null default 0,
  viewer_samples_sum bigint not null default 0,
  viewer_samples bigint not null default 0,
  -- Bitrate times duration; divided by live_ms it is the mean.
  bitrate_kbit bigint not null default 0,
  primary key (workspace_id, subject_kind, subject_id, interval_min, at, is_owner)
);
create index analytics_total_at on analytics_total (workspace_id, subject_kind, interval_min, at);
create index analytics_total_interval_min on analytics_total (interval_min, at);

create table analytics_breakdown (
  workspace_id text not null,
  subject_kind text not null check (subject_kind in ('ACCOUNT', 'VIDEO', 'STREAM')),
  subject_id text not null,
  dimension text not null
    check (dimension in ('country', 'device', 'browser', 'os', 'referrer', 'quality', 'source')),
  value text not null,
  interval_min integer not null check (interval_min in (15, 60, 240, 1440, 5760, 23040, 92160)),
  at timestamptz not null,
  is_owner boolean not null,
  views bigint not null default 0,
  unique_viewers bigint not null default 0,
  watch_ms bigint not null default 0,
  primary key (workspace_id, subject_kind, subject_id, dimension, interval_min, at, value, is_owner)
);
create index analytics_breakdown_interval_min on analytics_breakdown (interval_min, at);

-- Number of times each second of a video was watched.
create table analytics_retention (
  workspace_id text not null,
  video_id text not null,
  interval_min integer not null check (interval_min in (1440, 5760, 23040, 92160)),
  at timestamptz not null,
  is_owner boolean not null,
  -- One per second; the first is that of 0 to 1.
  watch_counts integer[] not null,
  primary key (workspace_id, video_id, interval_min, at, is_owner)
);
create index analytics_retention_interval_min on analytics_retention (interval_min, at);

-- Viewers already counted as unique today; deleted with the salts.
create table analytics_unique_viewer (
  at timestamptz not null,
  workspace_id text not null,
  subject_id text not null,
  -- Empty for totals, otherwise the dimension and value of a breakdown.
  dimension_filter text not null,
  viewer bytea not null,
  is_owner boolean not null,
  -- Quarter-hour of the first event, in which the viewer is counted.
  first_at timestamptz not null,
  primary key (at, workspace_id, subject_id, dimension_filter, viewer, is_owner)
);

create table usage_total (
  workspace_id text not null,
  -- In the unit of its kind of usage event; of STORAGE the maximum of the interval.
  metric text not null check (metric in ('STORAGE', 'EGRESS', 'ENCODE', 'LIVE', 'ROOM', 'REQUEST', 'DELIVERY')),
  interval_min smallint not null check (interval_min in (15, 1440)),
  at timestamptz not null,
  amount bigint not null,
  primary key (workspace_id, metric, interval_min, at)
);
create index usage_total_interval_min on usage_total (interval_min, at);

create table usage_request (
  workspace_id text not null,
  -- Empty for a dashboard session.
  key_id text not null,
  -- UTC day.
  at timestamptz not null,
  requests bigint not null,
  errors_4xx bigint not null,
  errors_5xx bigint not null,
  rate_limited bigint not null,
  primary key (workspace_id, at, key_id)
);
create index usage_request_at on usage_request (at);

-- Notifications about resources of the plan.
create table quota_notification (
  workspace_id text not null references workspace (id) on delete cascade,
  resource text not null,
  -- Highest percentage of the limit that was reported; 0 for none, or after it fell again.
  notified_level smallint not null check (notified_level in (0, 80, 95, 100)),
  -- Usage and limit at that time: a higher limit is reported again.
  notified_used bigint not null,
  notified_limit bigint not null default 0,
  -- Start of its period; null for resources that shrink when something is deleted.
  period_start timestamptz,
  -- Incremented by each change, so that a concurrent check of an older version starts over.
  version integer not null default 0,
  event_sequence integer not null default 0,
  primary key (workspace_id, resource)
);

-- Counters of resources that a workspace may have very many of, as differences whose sum is the count: concurrent
-- changes wait for no common row. The worker merges rows.
create table counter_delta (
  workspace_id text not null references workspace (id) on delete cascade,
  name text not null
    check (name in (
      'VIDEOS', 'VIDEOS_READY', 'VIDEOS_PROCESSING', 'VIDEOS_FAILED', 'VIDEO_MS', 'STREAMS', 'PLAYLISTS', 'SUBSCRIBERS')),
  amount bigint not null
);
create index counter_delta_workspace on counter_delta (workspace_id, name);

-- Counters of one row. The triggers below and the command that recounts use only these.
create function counts_of(one video) returns table (name text, amount bigint) language sql stable as $$
  select counted.name, counted.amount from (values
    ('VIDEOS', 1::bigint),
    ('VIDEOS_READY', case when one.status = 'READY' then 1 else 0 end),
    ('VIDEOS_PROCESSING', case when one.status in ('QUEUED', 'PROCESSING') then 1 else 0 end),
    ('VIDEOS_FAILED', case when one.status = 'FAILED' then 1 else 0 end),
    ('VIDEO_MS', coalesce(round(one.duration_sec * 1000), 0)::bigint)) counted (name, amount)
  where one.deleted_at is null and counted.amount <> 0 $$;
create function counts_of(one stream) returns table (name text, amount bigint) language sql stable as $$
  select 'STREAMS', 1::bigint where one.deleted_at is null $$;
create function counts_of(one playlist) returns table (name text, amount bigint) language sql stable as $$
  select 'PLAYLISTS', 1::bigint $$;
create function counts_of(one subscriber) returns table (name text, amount bigint) language sql stable as $$
  select 'SUBSCRIBERS', 1::bigint where one.status = 'CONFIRMED' $$;

create function record_counter_deltas() returns trigger language plpgsql as $$ begin
  if tg_op = 'INSERT' then
    insert into counter_delta (workspace_id, name, amount)
    select new.workspace_id, of.name, of.amount from counts_of(new) of;
  elsif tg_op = 'UPDATE' then
    insert into counter_delta (workspace_id, name, amount)
    select new.workspace_id, of.name, sum(of.amount) from (
      select name, amount from counts_of(new) union all select name, -amount from counts_of(old)) of
    group by of.name having sum(of.amount) <> 0;
  else
    -- The counters of a deleted workspace are deleted with it.
    insert into counter_delta (workspace_id, name, amount)
    select old.workspace_id, of.name, -of.amount from counts_of(old) of
    where exists (select from workspace where id = old.workspace_id);
  end if;
  return null;
end $$;

create trigger video_made_or_gone after insert or delete on video
  for each row execute function record_counter_deltas();
create trigger video_changed after update on video for each row
  when ((old.status, old.deleted_at is null, old.duration_sec)
    is distinct from (new.status, new.deleted_at is null, new.duration_sec))
  execute function record_counter_deltas();
create trigger stream_made_or_gone after insert or delete on stream
  for each row execute function record_counter_deltas();
create trigger stream_changed after update on stream for each row
  when ((old.deleted_at is null) <> (new.deleted_at is null)) execute function record_counter_deltas();
create trigger playlist_made_or_gone after insert or delete on playlist
  for each row execute function record_counter_deltas();
create trigger subscriber_made_or_gone after insert or delete on subscriber
  for each row execute function record_counter_deltas();
create trigger subscriber_changed after update on subscriber for each row
  when (old.status <> new.status) execute function record_counter_deltas();
