-- A repetition of the request that made a restream finds it (docs/decisions/idempotency.md#leases).
alter table restream add column operation_id text unique;
