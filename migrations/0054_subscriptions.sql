-- Subscriptions: months from the anchor instead of a count of periods, so that one that changes from monthly to yearly
-- keeps its day, and what the charge under way will bring. Members: who has asked for a link.

alter table subscription rename column period_number to next_period_month;
alter table subscription
  -- What the charge under way is for, and what holds once it is paid.
  add column charge_kind text check (charge_kind in ('RENEWAL', 'SWITCH')),
  add column charge_tier_id text references tier (id),
  add column charge_price_cents integer check (charge_price_cents >= 0),
  add column charge_interval text check (charge_interval in ('MONTH', 'YEAR')),
  add column charge_period_month integer,
  -- Off the first charge, which follows a trial; the codes of others are spent when they begin.
  add column discount_cents integer not null default 0 check (discount_cents >= 0),
  -- The end of the card (2027-03) that its holder was last told of.
  add column card_expiry_told text,
  -- What paid for the dearer tier since the middle of the present period.
  add column upgrade_purchase_id text,
  add column pending_interval text check (pending_interval in ('MONTH', 'YEAR')),
  -- When the member was told of the price that is pending; null while nobody has told them.
  add column price_told_at timestamptz,
  add check (cancel_reason in
    ('MEMBER_CANCELED', 'CREATOR_CANCELED', 'REFUNDED', 'DISPUTE_LOST', 'PAYMENT_FAILED')),
  add check ((charge_kind is null) = (payment_id is null));
create index subscription_untold on subscription (id)
  where pending_price_cents is not null and price_told_at is null and ended_at is null;

-- Addresses that a link to the member page was asked for; the worker answers those that are known, so that the answer
-- takes the same time for all.
create table member_link_request (
  id bigint generated always as identity primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  email text not null,
  created_at timestamptz not null
);
alter table member_link add column used_at timestamptz;
create index member_link_customer on member_link (customer_id, created_at);
create index member_link_expiry on member_link (expires_at);
create index member_session_customer on member_session (customer_id);

-- Of TIER: members of which tiers may watch; those of any where none is named.
alter table stream add column tier_ids text[] not null default '{}';
