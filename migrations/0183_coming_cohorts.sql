-- The cohorts of a workspace that have not begun, by their start: members of these have bookings still to come.
create index concurrently cohort_coming on cohort (workspace_id, starts_at)
  where status in ('SCHEDULED', 'OPEN', 'FULL');
