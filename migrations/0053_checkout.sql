-- Idempotency keys whose handler runs without a transaction (docs/decisions/idempotency.md#leases): the record is there
-- before the answer is.

alter table idempotency_record
  alter column status drop not null,
  alter column body drop not null,
  -- Until then nobody else runs the request. Null beside no answer: its run has ended without one.
  add column leased_until timestamptz,
  -- What the run makes is known by it, also to a later run.
  add column operation_id text,
  add check ((status is null) = (body is null));

alter table checkout
  -- What is bought, as it was offered.
  add column title text not null,
  add column interval text check (interval in ('MONTH', 'YEAR')),
  add column trial_days integer not null default 0,
  -- The charge that is under way, and how many there were.
  add column payment_id text,
  add column attempt_count integer not null default 0;
