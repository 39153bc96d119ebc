-- Background jobs. Waiting and active jobs are the queue; the others are history, deleted after three days.
-- Each job is written about four times, so pages keep room for new versions, and vacuum runs early.
create table job (
  id uuid primary key default gen_random_uuid(),
  -- Name of the definition, which is also the name of the queue.
  name text not null,
  state text not null default 'waiting'
    check (state in ('waiting', 'active', 'completed', 'failed', 'canceled')),
  payload jsonb not null,
  priority integer not null default 0,
  -- Groups take turns within a queue; jobs without a group form the group ''.
  group_id text not null default '',
  singleton_key text,
  run_after timestamptz not null default clock_timestamp(),
  -- Incremented by each claim: a run with an older value has lost the job.
  fence integer not null default 0,
  -- Attempts that failed, and attempts whose process disappeared.
  failed_count integer not null default 0,
  lost_count integer not null default 0,
  error text,
  created_at timestamptz not null default clock_timestamp(),
  heartbeat_at timestamptz,
  ended_at timestamptz
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0);
create unique index job_singleton on job (name, singleton_key)
  where state in ('waiting', 'active') and singleton_key is not null;
create index job_waiting on job (name, group_id, priority desc, created_at) include (run_after)
  where state = 'waiting';
create index job_active on job (name) where state = 'active';
create index job_ended on job (ended_at) where ended_at is not null;

-- Until this version the jobs were in the schema of the library pg-boss. A restored backup has its columns as text.
do $$ begin
  if to_regclass('pgboss.job') is null then return; end if;
  insert into job (id, name, state, payload, priority, group_id, singleton_key, run_after, fence, failed_count,
    lost_count, error, created_at, heartbeat_at, ended_at)
  select id::uuid, name, case state::text when 'active' then 'active' when 'failed' then 'failed' else 'waiting' end,
    data::jsonb, priority::integer, coalesce(group_id, ''), singleton_key, start_after::timestamptz,
    retry_count::integer, coalesce((output::jsonb ->> 'failed')::integer, 0),
    coalesce((output::jsonb ->> 'lost')::integer, 0), output::jsonb ->> 'error', created_on::timestamptz,
    heartbeat_on::timestamptz, completed_on::timestamptz
  from pgboss.job
  where state::text in ('created', 'retry', 'active', 'failed') and policy = 'exclusive';
  drop schema pgboss cascade;
end $$;
