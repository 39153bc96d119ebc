-- What tails, failing webhooks, replays and the streams' own events need.

-- A tail reads what one snapshot sees and the one before did not, so that an event which commits late is not
-- passed over; `seq` orders what it reads.
create sequence event_seq;
alter table event add column xid xid8 not null default pg_current_xact_id();
alter table event add column seq bigint not null default nextval('event_seq');
create index event_tail on event (workspace_id, xid, seq);

-- Numbers the events about the webhook itself.
alter table webhook add column event_sequence integer not null default 0;
-- The first failure since the last success, and when the other webhooks were told.
alter table webhook add column failing_since timestamptz;
alter table webhook add column failing_said_at timestamptz;
create index webhook_failing on webhook (failing_since) where failing_since is not null;
create index webhook_inactive on webhook (id) where not is_active;

-- The row of the log that a replay repeats. From here on `lease` is odd while a job is claimed.
alter table delivery_job add column replay_of text;
update delivery_job set lease = lease * 2;

-- Numbers the stream's events, but for the four of the broadcast, whose payloads the contract fixes.
alter table stream add column event_sequence integer not null default 0;
-- What was last said of the stream's health: at most once a minute.
alter table stream add column health_said_issues text[] not null default '{}';
alter table stream add column health_said_at timestamptz;
-- The planned start that was announced 15 minutes ahead.
alter table stream add column schedule_said_for timestamptz;
create index stream_scheduled on stream (scheduled_start_at) where scheduled_start_at is not null;
