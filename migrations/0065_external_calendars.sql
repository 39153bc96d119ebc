-- What the next reading of a calendar elsewhere goes by.

alter table external_calendar
  -- Readings that failed, one after the other: the next one waits longer.
  add column failure_count integer not null default 0 check (failure_count >= 0),
  add column last_modified text,
  -- When its events were last worked out, and in which zone its whole days were: what has not changed since then is
  -- worked out anew now and then all the same, as time goes on.
  add column content_read_at timestamptz,
  add column content_timezone text;
