-- The last hour of each signal's health, a point for every ten seconds.

-- No reference to the stream: each would lock its row. Points go after an hour.
create table stream_health_point (
  stream_id text not null,
  -- When its ten seconds began.
  at timestamptz not null,
  bitrate_kbps integer not null,
  fps double precision not null,
  keyframe_interval_ms integer,
  -- In these ten seconds.
  dropped_frames integer not null,
  late_frames integer not null,
  av_drift_ms integer,
  primary key (stream_id, at)
);
create index stream_health_point_at on stream_health_point (at);

-- When a change of health that came too soon after the last one has to be told.
alter table stream add column health_due_at timestamptz;
create index stream_health_due on stream (health_due_at) where health_due_at is not null;
create index stream_has_signal on stream (id) where has_signal;
