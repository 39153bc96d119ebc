-- How far what a provider did not tell of was looked for: everything up to then is known.
create table provider_look (
  provider text primary key check (provider in ('SANDBOX', 'STRIPE')),
  told_until timestamptz not null
);
-- When the payouts of an account were last looked at there.
alter table connect_account add column payouts_seen_at timestamptz;
