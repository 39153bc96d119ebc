-- How the recordings of a room look, and how long people were in rooms.

alter table room add column record_layout text not null default 'GRID'
  check (record_layout in ('GRID', 'SPEAKER'));

-- What was used, kept when rooms are deleted. Whoever is still there is counted from their own row.
create table room_usage (
  workspace_id text not null references workspace (id) on delete cascade,
  -- The beginning of a day, UTC.
  day timestamptz not null,
  -- Of all people together.
  seconds bigint not null,
  primary key (workspace_id, day)
);
