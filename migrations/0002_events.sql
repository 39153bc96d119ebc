-- Events, webhooks, the delivery queue and the delivery log.

-- One row per event, in the transaction of the state change. The body is stored once, here: retries and
-- replays send the same bytes. Day partitions, dropped after 30 days; the default one is a net for the case
-- that nobody made tomorrow's. No foreign key: it would lock the workspace's row for every event.
create table event (
  id uuid not null,
  workspace_id text not null,
  type text not null,
  created_at timestamptz not null,
  body text not null,
  primary key (id, created_at)
) partition by range (created_at);
create index event_workspace on event (workspace_id, created_at desc, id desc);
create table event_default partition of event default;

create table webhook (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  url text not null,
  -- Types and `prefix.*` patterns; empty means every type.
  events text[] not null default '{}',
  is_active boolean not null default true,
  description text not null default '',
  -- Encrypted: the signature needs the secret in clear.
  secret bytea not null,
  secret_rotated_at timestamptz,
  -- Statistics, kept by the statement that finishes deliveries.
  total_deliveries bigint not null default 0,
  success_count bigint not null default 0,
  failure_count bigint not null default 0,
  consecutive_failures integer not null default 0,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  last_status integer,
  latency_total_ms bigint not null default 0,
  latency_count bigint not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null
) with (fillfactor = 80);
create index webhook_workspace on webhook (workspace_id, id desc);

-- What still has to be delivered. `next_at` is schedule and lease in one: a claim moves it past the lease.
-- No foreign keys: an event must not fail because its webhook is being deleted; the claim drops such jobs.
create table delivery_job (
  id bigint generated always as identity primary key,
  workspace_id text not null,
  webhook_id text not null,
  event_id uuid not null,
  -- The partition that holds the event's body.
  event_created_at timestamptz not null,
  trigger text not null default 'EVENT',
  next_at timestamptz not null default clock_timestamp(),
  -- Attempts that were finished and logged; a crash in the middle of one does not count.
  attempt smallint not null default 0,
  -- Changes with every claim, so that a worker which lost its lease cannot finish the job.
  lease integer not null default 0
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0);
create index delivery_job_due on delivery_job (webhook_id, next_at);

-- One row per attempt; the sent payload is not in it (contract 2.4).
create table delivery_log (
  id text not null,
  workspace_id text not null,
  webhook_id text not null,
  event_id uuid not null,
  event_type text not null,
  trigger text not null,
  attempt smallint not null,
  status text not null,
  response_status integer,
  response_body text,
  latency_ms integer,
  error_message text,
  next_attempt_at timestamptz,
  replay_of text,
  created_at timestamptz not null,
  primary key (id, created_at)
) partition by range (created_at);
create index delivery_log_webhook on delivery_log (webhook_id, id desc);
create table delivery_log_default partition of delivery_log default;
