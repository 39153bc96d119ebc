-- pg-boss keeps the jobs (schema pgboss, which it makes and changes by itself). This says whose turn it is:
-- a group with the smallest `next_pass` is served next (stride scheduling, src/jobs/store.ts).
create table job_turn (
  queue text not null,
  group_id text not null,
  served_pass double precision not null,
  next_pass double precision not null,
  primary key (queue, group_id)
);
