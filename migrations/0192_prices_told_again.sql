-- Who plans a switch may stay after all, at a price that was set meanwhile: nobody was mailed that one (docs/decisions/money.md#renewals).
update subscription set price_told_at = null
where ended_at is null and pending_tier_id is not null and migrated_price_cents is not null;
