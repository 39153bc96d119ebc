-- What customers are told of the times of their bookings, and the links by which they come in.

-- Counts the changes of its times that its members are told of.
alter table cohort add column change_no integer not null default 0;

-- When its time was set: whoever was told of it within the hour before its start is not reminded.
alter table cohort_session add column set_at timestamptz;
update cohort_session set set_at = cohort.created_at from cohort where cohort.id = cohort_session.cohort_id;
alter table cohort_session alter column set_at set not null;
create index cohort_session_start on cohort_session (starts_at);

-- Sessions that are not held: calendars of members have them until they are told.
create table cohort_session_removed (
  id text primary key,
  cohort_id text not null references cohort (id) on delete cascade,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  -- The change that removed it.
  change_no integer not null
);
create index cohort_session_removed_change on cohort_session_removed (cohort_id, change_no);

alter table booking
  -- The last change of its cohort that its customer knows.
  add column cohort_change_no integer not null default 0,
  -- The start of the last session of its cohort that its customer was reminded of.
  add column reminded_until timestamptz,
  -- Counts the links to its room: an earlier one opens nothing.
  add column link_no integer not null default 0;
