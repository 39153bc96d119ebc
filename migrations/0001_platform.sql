-- Extensions, background jobs, and state of the HTTP layer.

-- btree_gin: a search index has the workspace next to the text. pg_trgm: substrings of texts.
create extension if not exists btree_gin;
create extension if not exists pg_trgm;

-- Background jobs. Waiting and active jobs are the queue; the others are history, deleted after three days. Each job
-- is written about four times, so pages keep room for new versions, and vacuum runs early.
create table job (
  id uuid primary key default gen_random_uuid(),
  -- Name of the definition, which is also the name of the queue.
  name text not null,
  state text not null default 'waiting' check (state in ('waiting', 'active', 'completed', 'failed', 'canceled')),
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

-- Turns of the groups of a queue: the group with the smallest `next_pass` is served next (stride scheduling,
-- src/jobs/repository.ts).
create table job_turn (
  queue text not null,
  group_id text not null,
  served_pass double precision not null,
  next_pass double precision not null,
  primary key (queue, group_id)
);

-- Responses that a repeated Idempotency-Key receives. A row is overwritten only after it has expired.
create table idempotency_record (
  -- SHA-256 of the API key's ID, the method, the path and the Idempotency-Key.
  id bytea primary key,
  workspace_id text not null,
  -- SHA-256 of the body and its media type: the same key with another body is rejected.
  fingerprint bytea not null,
  -- Null while the request runs (docs/decisions/idempotency.md#leases).
  status smallint,
  -- Exact text, encrypted, because a response may contain a secret that is shown once, such as a stream key.
  body bytea,
  -- Until then no other process runs the request. Null without a response: the run ended without one.
  leased_until timestamptz,
  -- Identifies what a run creates, so that a later run finds it.
  operation_id text,
  expires_at timestamptz not null,
  check ((status is null) = (body is null))
);
create index idempotency_record_expiry on idempotency_record (expires_at);

-- Rate-limit windows that outlive a restart without Redis (docs/decisions/rate-limits.md#restarts). Rows are updated
-- every few seconds, so half of each page is free for new versions.
create table counter_window (
  name text not null,
  key text not null,
  ends_at timestamptz not null,
  hits bigint not null,
  primary key (name, key)
) with (fillfactor = 50);
