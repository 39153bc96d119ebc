-- Money: what is offered, who buys, what was paid, and the books below it. Amounts are whole cents; the one currency is
-- USD. The books (ledger_*) hold no persons: a customer may be erased, an entry never.

-- ---- Offers ---------------------------------------------------------------------------------------------------------

create table tier (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  name text not null,
  description text,
  price_cents integer not null check (price_cents >= 0),
  interval text not null check (interval in ('MONTH', 'YEAR')),
  trial_days integer not null default 0 check (trial_days between 0 and 90),
  benefits text[] not null default '{}',
  position integer not null default 0,
  is_active boolean not null default true,
  max_members integer check (max_members >= 1),
  -- Members who are there, and places that are claimed by somebody who pays just now.
  member_count integer not null default 0 check (member_count >= 0),
  claimed_count integer not null default 0 check (claimed_count >= 0),
  event_sequence integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  archived_at timestamptz
);
create index tier_workspace on tier (workspace_id, id desc);

create table discount_code (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  code text not null,
  -- Null: for everything of the workspace that is sold.
  product_id text,
  percent_off integer check (percent_off between 1 and 100),
  amount_cents_off integer check (amount_cents_off >= 1),
  max_uses integer check (max_uses >= 1),
  used_count integer not null default 0 check (used_count >= 0),
  claimed_count integer not null default 0 check (claimed_count >= 0),
  is_active boolean not null default true,
  expires_at timestamptz,
  -- When its expiry was told.
  expiry_told_at timestamptz,
  notes text,
  event_sequence integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (workspace_id, code),
  check (num_nonnulls(percent_off, amount_cents_off) = 1),
  check (max_uses is null or used_count + claimed_count <= max_uses)
);
create index discount_code_workspace on discount_code (workspace_id, id desc);

-- ---- Buyers ---------------------------------------------------------------------------------------------------------

-- Somebody who buys of a workspace: an address, never a user of the platform.
create table customer (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  email text not null,
  name text,
  -- The provider's name for them, and the card that renewals are charged to.
  provider text check (provider in ('SANDBOX', 'STRIPE')),
  provider_ref text,
  method_ref text,
  card_brand text,
  card_last4 text,
  card_exp_month integer,
  card_exp_year integer,
  -- For what month the customer was last told that the card ends.
  card_expiry_told text,
  -- A customer has one trial with a creator.
  trial_used_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (workspace_id, email)
);

-- ---- Checkouts ------------------------------------------------------------------------------------------------------

create table checkout (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  kind text not null check (kind in ('SUBSCRIPTION', 'VIDEO', 'BOOKING')),
  status text not null default 'OPEN' check (status in ('OPEN', 'COMPLETED', 'EXPIRED', 'CANCELED')),
  tier_id text references tier (id) on delete cascade,
  video_id text,
  booking_id text,
  -- As offered when it was made; what the buyer is charged now is amount_cents.
  amount_cents integer not null check (amount_cents >= 0),
  discount_cents integer not null default 0 check (discount_cents >= 0),
  discount_code_id text references discount_code (id) on delete set null,
  discount_code text,
  customer_email text,
  customer_id text references customer (id) on delete set null,
  subscription_id text,
  purchase_id text,
  success_url text not null,
  cancel_url text not null,
  client_reference_id text,
  metadata jsonb not null default '{}',
  -- Of the Idempotency-Key that made it: a repetition after a crash finds it by this.
  operation_id text unique,
  -- While its buyer pays: the place and the use of the code are claimed until then.
  claimed_until timestamptz,
  event_sequence integer not null default 0,
  expires_at timestamptz not null,
  completed_at timestamptz,
  created_at timestamptz not null,
  check (num_nonnulls(tier_id, video_id, booking_id) = 1)
);
create index checkout_workspace on checkout (workspace_id, id desc);
create index checkout_open on checkout (expires_at) where status = 'OPEN';
create index checkout_claimed on checkout (claimed_until) where claimed_until is not null;

-- ---- Subscriptions --------------------------------------------------------------------------------------------------

create table subscription (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  tier_id text not null references tier (id),
  customer_id text not null references customer (id),
  checkout_id text,
  status text not null check (status in ('TRIALING', 'ACTIVE', 'PAST_DUE', 'CANCELED', 'EXPIRED')),
  -- What a period costs this member, whatever the tier costs by now.
  price_cents integer not null check (price_cents >= 0),
  interval text not null check (interval in ('MONTH', 'YEAR')),
  -- Periods are counted from here in this zone; neither moves when a renewal is late.
  anchor_at timestamptz not null,
  timezone text not null,
  period_number integer not null default 0,
  current_period_start timestamptz not null,
  current_period_end timestamptz not null,
  trial_ends_at timestamptz,
  -- The price or the tier from the next period on.
  pending_price_cents integer check (pending_price_cents >= 0),
  pending_tier_id text references tier (id),
  cancel_at_period_end boolean not null default false,
  canceled_at timestamptz,
  ended_at timestamptz,
  cancel_reason text,
  -- What pays for the present period; access goes when it is disputed.
  purchase_id text,
  is_disputed boolean not null default false,
  -- Tries to charge the present renewal that failed, and when the next one is.
  failed_attempts integer not null default 0,
  next_charge_at timestamptz,
  -- The charge that is under way.
  payment_id text,
  -- When the reminder of a yearly renewal was sent, for which period.
  reminded_period integer,
  discount_code text,
  client_reference_id text,
  event_sequence integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((status in ('CANCELED', 'EXPIRED')) = (ended_at is not null))
);
create index subscription_workspace on subscription (workspace_id, id desc);
create index subscription_customer on subscription (customer_id);
create index subscription_tier on subscription (tier_id) where ended_at is null;
create index subscription_due on subscription (next_charge_at) where next_charge_at is not null;

-- Links to the member page, mailed and good for one use, and the cookies that they become.
create table member_link (
  token_hash bytea primary key,
  customer_id text not null references customer (id) on delete cascade,
  expires_at timestamptz not null,
  created_at timestamptz not null
);
create table member_session (
  token_hash bytea primary key,
  customer_id text not null references customer (id) on delete cascade,
  workspace_id text not null references workspace (id) on delete cascade,
  expires_at timestamptz not null,
  created_at timestamptz not null
);
create index member_session_expiry on member_session (expires_at);

-- ---- Purchases and payments -----------------------------------------------------------------------------------------

-- Something that is paid once: a video, a booking, a period of a subscription.
create table purchase (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  customer_id text not null references customer (id),
  kind text not null check (kind in ('VIDEO', 'BOOKING', 'SUBSCRIPTION')),
  video_id text,
  booking_id text,
  -- Null on a first charge until it is paid.
  subscription_id text,
  tier_id text,
  product_id text,
  checkout_id text,
  status text not null default 'PENDING'
    check (status in ('PENDING', 'PAID', 'FAILED', 'REFUNDED', 'PARTIALLY_REFUNDED', 'DISPUTED')),
  -- Before the dispute.
  status_before_dispute text check (status_before_dispute in ('PAID', 'PARTIALLY_REFUNDED')),
  amount_cents integer not null check (amount_cents >= 0),
  discount_cents integer not null default 0 check (discount_cents >= 0),
  discount_code text,
  fee_cents integer not null default 0 check (fee_cents >= 0 and fee_cents <= amount_cents),
  refunded_cents integer not null default 0 check (refunded_cents >= 0 and refunded_cents <= amount_cents),
  -- Of the fee, what has gone back with refunds.
  fee_refunded_cents integer not null default 0 check (fee_refunded_cents >= 0 and fee_refunded_cents <= fee_cents),
  -- The newest charge.
  payment_id text,
  paid_at timestamptz,
  event_sequence integer not null default 0,
  created_at timestamptz not null
);
create index purchase_workspace on purchase (workspace_id, id desc);
create index purchase_video on purchase (workspace_id, video_id, id desc) where video_id is not null;
create index purchase_customer on purchase (customer_id, id desc);
create index purchase_subscription on purchase (subscription_id) where subscription_id is not null;
create index purchase_checkout on purchase (checkout_id) where checkout_id is not null;

-- One movement that a provider was asked for or told of.
create table payment (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  purchase_id text references purchase (id) on delete cascade,
  type text not null check (type in ('CHARGE', 'REFUND', 'DISPUTE', 'FEE', 'ADJUSTMENT')),
  status text not null check (status in ('PENDING', 'SUCCEEDED', 'FAILED', 'CANCELED')),
  -- As it moves the creator's side: charges are positive, refunds, disputes and fees negative.
  amount_cents integer not null,
  provider text not null check (provider in ('SANDBOX', 'STRIPE', 'NONE')),
  -- The provider's name for it; the key that it was asked with finds it after a crash.
  provider_ref text,
  provider_key text not null unique,
  -- What the provider is asked with, so that any process may ask again.
  request jsonb not null default '{}',
  -- Where the buyer is to go meanwhile (another page of the provider, a second factor of the bank).
  action_url text,
  failure_code text,
  failure_message text,
  -- Of refunds: what was asked for in the request that makes double clicks harmless.
  request_id text,
  reason text,
  -- Of disputes.
  outcome text check (outcome in ('WON', 'LOST')),
  asked_at timestamptz,
  next_look_at timestamptz,
  settled_at timestamptz,
  event_sequence integer not null default 0,
  created_at timestamptz not null
);
create index payment_workspace on payment (workspace_id, id desc);
create index payment_purchase on payment (purchase_id, id);
create unique index payment_ref on payment (provider, provider_ref) where provider_ref is not null;
create unique index payment_request on payment (purchase_id, request_id) where request_id is not null;
create index payment_open on payment (next_look_at) where status = 'PENDING';

-- What a provider told: kept by its id, so that what comes twice is done once. A hint: the object is fetched afresh.
create table provider_event (
  provider text not null check (provider in ('SANDBOX', 'STRIPE')),
  id text not null,
  kind text not null check (kind in ('PAYMENT', 'REFUND', 'DISPUTE', 'PAYOUT', 'ACCOUNT', 'CARD')),
  object_ref text not null,
  -- The connected account; null for the platform's own.
  account_ref text,
  received_at timestamptz not null,
  handled_at timestamptz,
  attempts integer not null default 0,
  next_attempt_at timestamptz,
  error text,
  primary key (provider, id)
);
create index provider_event_open on provider_event (next_attempt_at) where handled_at is null;

-- The creator's account with the provider, as last seen there.
create table connect_account (
  workspace_id text primary key references workspace (id) on delete cascade,
  provider text not null check (provider in ('SANDBOX', 'STRIPE')),
  provider_ref text not null,
  charges_enabled boolean not null default false,
  payouts_enabled boolean not null default false,
  details_submitted boolean not null default false,
  requirements_due text[] not null default '{}',
  country text,
  checked_at timestamptz not null,
  created_at timestamptz not null,
  unique (provider, provider_ref)
);

-- ---- The built-in provider's own record -----------------------------------------------------------------------------

-- Written by the sandbox alone, in transactions of its own, as a provider's database is none of ours.
create table sandbox_payment (
  ref text primary key,
  key text not null unique,
  workspace_id text not null references workspace (id) on delete cascade,
  amount_cents integer not null check (amount_cents > 0),
  fee_cents integer not null default 0,
  status text not null check (status in ('ACTION', 'SUCCEEDED', 'FAILED', 'CANCELED')),
  card text,
  failure_code text,
  refunded_cents integer not null default 0,
  dispute_status text check (dispute_status in ('OPEN', 'WON', 'LOST')),
  expires_at timestamptz,
  created_at timestamptz not null
);
create index sandbox_payment_workspace on sandbox_payment (workspace_id, ref);
create table sandbox_refund (
  ref text primary key,
  key text not null unique,
  payment_ref text not null references sandbox_payment (ref) on delete cascade,
  amount_cents integer not null check (amount_cents > 0),
  created_at timestamptz not null
);
create table sandbox_card (
  ref text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  -- Which of the test cards it is: their numbers are public.
  card text not null,
  created_at timestamptz not null
);

-- ---- The books ------------------------------------------------------------------------------------------------------

-- Where money is, for each workspace and provider (docs/decisions/money.md#the-books).
create table ledger_account (
  id text primary key,
  workspace_id text not null,
  provider text not null check (provider in ('SANDBOX', 'STRIPE')),
  -- BUYERS: what came from them, less what went back; it stands below zero. CREATOR: what is the creator's and not paid
  -- out. FEES: what the platform has earned. DISPUTED: what banks hold back. PAID_OUT: what has left to the creator's
  -- bank. What the provider holds is CREATOR and FEES together.
  kind text not null check (kind in ('BUYERS', 'CREATOR', 'FEES', 'DISPUTED', 'PAID_OUT')),
  created_at timestamptz not null,
  unique (workspace_id, provider, kind)
);

create table ledger_transaction (
  id text primary key,
  workspace_id text not null,
  kind text not null check (kind in (
    'CHARGE', 'REFUND', 'DISPUTE_OPENED', 'DISPUTE_WON', 'DISPUTE_LOST', 'PAYOUT', 'PAYOUT_FAILED', 'ADJUSTMENT'
  )),
  -- What moved it, once: the id of a payment or a payout.
  source text not null,
  -- Of movements of a sale: what was sold, and the tier, product or video.
  sale_kind text check (sale_kind in ('VIDEO', 'BOOKING', 'SUBSCRIPTION')),
  item_id text,
  purchase_id text,
  occurred_at timestamptz not null,
  unique (source, kind),
  check (num_nonnulls(sale_kind, item_id, purchase_id) in (0, 3))
);
create index ledger_transaction_workspace on ledger_transaction (workspace_id, occurred_at);
create index ledger_transaction_time on ledger_transaction using brin (occurred_at);

create table ledger_entry (
  transaction_id text not null references ledger_transaction (id),
  account_id text not null references ledger_account (id),
  -- Positive into the account, negative out of it; those of a transaction sum to nothing.
  amount_cents bigint not null check (amount_cents <> 0),
  primary key (transaction_id, account_id)
);
create index ledger_entry_account on ledger_entry (account_id, transaction_id) include (amount_cents);

-- Sums of the books, in the transaction of the entries: what revenue is read from. They can be made anew at any time.
create table ledger_revenue (
  workspace_id text not null,
  -- Begins here: quarter-hours have the days of every zone.
  quarter timestamptz not null,
  gross_cents bigint not null,
  fee_cents bigint not null,
  refund_cents bigint not null,
  sale_count integer not null,
  primary key (workspace_id, quarter)
);
create table ledger_revenue_item (
  workspace_id text not null,
  -- Begins here, in UTC.
  day timestamptz not null,
  sale_kind text not null check (sale_kind in ('VIDEO', 'BOOKING', 'SUBSCRIPTION')),
  item_id text not null,
  gross_cents bigint not null,
  fee_cents bigint not null,
  refund_cents bigint not null,
  sale_count integer not null,
  primary key (workspace_id, day, sale_kind, item_id)
);

create table payout (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  provider text not null check (provider in ('SANDBOX', 'STRIPE')),
  provider_ref text,
  amount_cents integer not null check (amount_cents > 0),
  status text not null check (status in ('PENDING', 'IN_TRANSIT', 'PAID', 'FAILED', 'CANCELED')),
  failure_code text,
  arrival_at timestamptz,
  event_sequence integer not null default 0,
  created_at timestamptz not null,
  unique (provider, provider_ref)
);
create index payout_workspace on payout (workspace_id, id desc);

create function ledger_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'the books are append-only';
end $$;
create trigger ledger_entry_append_only before update or delete or truncate on ledger_entry
  for each statement execute function ledger_is_append_only();
create trigger ledger_account_append_only before update or delete or truncate on ledger_account
  for each statement execute function ledger_is_append_only();
create trigger ledger_transaction_append_only before update or delete or truncate on ledger_transaction
  for each statement execute function ledger_is_append_only();

create function ledger_is_balanced() returns trigger language plpgsql as $$
begin
  if (select sum(amount_cents) from ledger_entry where transaction_id = new.transaction_id) <> 0 then
    raise exception 'the entries of ledger transaction % do not sum to nothing', new.transaction_id;
  end if;
  return null;
end $$;
create constraint trigger ledger_entry_balanced after insert on ledger_entry
  deferrable initially deferred for each row execute function ledger_is_balanced();
