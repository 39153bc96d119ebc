-- All values of a dimension over many days are one walk; the key of the table has the value before the time.
create index analytics_share_day on analytics_share (workspace_id, subject_kind, subject_id, dimension, at)
  where span = 1440;
