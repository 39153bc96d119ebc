-- A node of a version before 0188 that runs on beside newer ones knows no such column: whoever it puts on a waitlist is told that they
-- are on it, and was never asked to confirm it. Newer ones always say.
alter table waitlist_entry alter column confirmed_at set default now();
