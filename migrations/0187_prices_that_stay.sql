-- A price that members are to pay as well (migrateExisting) waits for the next period. It is kept beside what is planned,
-- which a cancellation or a switch takes away: whoever stays after all pays it.
alter table subscription add column migrated_price_cents integer check (migrated_price_cents >= 0);
update subscription set migrated_price_cents = pending_price_cents
  where ended_at is null and pending_tier_id is null and pending_price_cents is not null;
