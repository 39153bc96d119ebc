-- A viewer whose media node does not come back is over, whatever the api role thinks of their right to watch.

alter table whep_session
  -- The media node last said then that it serves them; null where it is of a version that does not say it.
  add column carried_at timestamptz;
