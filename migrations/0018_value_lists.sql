-- The columns that hold one of a few values say which: the unions and the lists of the code are made from here.

alter table stream
  add constraint stream_visibility_check
    check (visibility in ('PUBLIC', 'UNLISTED', 'PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE')),
  add constraint stream_record_visibility_check
    check (record_visibility in ('PUBLIC', 'UNLISTED', 'PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE')),
  add constraint stream_latency_mode_check check (latency_mode in ('STANDARD', 'LOW')),
  add constraint stream_chat_mode_check check (chat_mode in ('OPEN', 'FOLLOWERS', 'TIER', 'OFF'));

alter table video
  add constraint video_visibility_check
    check (visibility in ('PUBLIC', 'UNLISTED', 'PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE'));

alter table import
  add constraint import_visibility_check
    check (visibility in ('PUBLIC', 'UNLISTED', 'PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE'));

-- What an attempt is made for: an event, or someone who asked for it.
alter table delivery_job
  add constraint delivery_job_trigger_check check (trigger in ('EVENT', 'TEST', 'REPLAY', 'RECOVER'));

-- FAILED has another attempt to come unless it was a test or a replay, EXHAUSTED was the last of the schedule,
-- CANCELED was not sent.
alter table delivery_log
  add constraint delivery_log_trigger_check check (trigger in ('EVENT', 'TEST', 'REPLAY', 'RECOVER')),
  add constraint delivery_log_status_check check (status in ('SUCCESS', 'FAILED', 'EXHAUSTED', 'CANCELED'));
