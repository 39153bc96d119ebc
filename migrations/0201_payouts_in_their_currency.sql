-- ISO 4217. Stripe pays some creators out in another currency than US dollars (docs/decisions/money.md#payouts).
alter table payout add column currency text not null default 'USD' check (currency ~ '^[A-Z]{3}$');
