-- A publish by WHIP whose media node does not come back is over.

alter table whip_session
  -- The media node last said then that it carries it; null where it is of a version that does not say it.
  add column carried_at timestamptz;
