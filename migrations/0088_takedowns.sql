-- What the operator has taken down: nobody is shown it, and its owner is told why.

alter table video
  add column taken_down_at timestamptz,
  add column takedown_reason text,
  add constraint video_takedown_reason check ((taken_down_at is null) = (takedown_reason is null));
alter table stream
  add column taken_down_at timestamptz,
  add column takedown_reason text,
  add constraint stream_takedown_reason check ((taken_down_at is null) = (takedown_reason is null));
