-- How far each broadcast and each stay in a room is counted: what is counted and this place move together.

alter table stream_session add column counted_until timestamptz;
create index stream_session_on_air on stream_session (id)
  where broadcast_started_at is not null and broadcast_ended_at is null;

alter table room_participant add column counted_until timestamptz;
create index room_participant_active on room_participant (id) where state = 'ACTIVE' and bridge_id is null;

-- The minutes of people are facts now, like all that is counted.
insert into fact (created_at, id, workspace_id, kind, amount)
select day, 'fct_room' || day::text || workspace_id, workspace_id, 'ROOM', seconds * 1000 from room_usage;
drop table room_usage;

-- Which workspaces have used something lately.
create index usage_total_recent on usage_total (at) where span = 15;

-- What was told of a resource of the plan.
create table quota_notice (
  workspace_id text not null references workspace (id) on delete cascade,
  resource text not null,
  -- The highest percentage of the limit that was told: 80, 95, 100; 0 for none, or when it fell below again.
  told smallint not null check (told in (0, 80, 95, 100)),
  -- What was used then: a refusal tells 100 before all is used.
  told_used bigint not null,
  -- When the period began in which it was told; null for what falls as things are removed.
  period_start timestamptz,
  -- Counts changes of this row: whoever has looked at an older one looks again.
  version integer not null default 0,
  event_sequence integer not null default 0,
  primary key (workspace_id, resource)
);

-- When its owner was told that the plan keeps the recording no longer, and until when it did.
alter table video add column retention_said_at timestamptz;
alter table video add column retention_said_for timestamptz;

-- For whether a recording was paid for.
create index booking_recording on booking (recording_video_id) where recording_video_id is not null;

-- For GET /quota: minutes of stored videos are added up without reading the videos.
create index video_minutes on video (workspace_id) include (duration_sec)
  where deleted_at is null and duration_sec is not null;
