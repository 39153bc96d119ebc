-- Tiers, discount codes, customers, checkouts, subscriptions, payments, payouts and the ledger. Amounts are cents of
-- US dollars unless a row has a currency. The ledger (`ledger_*`) has no personal data: a customer can be erased, an
-- entry cannot.

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
  -- Members, and spots reserved for buyers who are paying.
  member_count integer not null default 0 check (member_count >= 0),
  reserved_count integer not null default 0 check (reserved_count >= 0),
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
  -- Null: for everything the workspace sells.
  product_id text,
  percent_off integer check (percent_off between 1 and 100),
  amount_cents_off integer check (amount_cents_off >= 1),
  max_uses integer check (max_uses >= 1),
  used_count integer not null default 0 check (used_count >= 0),
  reserved_count integer not null default 0 check (reserved_count >= 0),
  is_active boolean not null default true,
  expires_at timestamptz,
  expiry_notified_at timestamptz,
  notes text,
  event_sequence integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (workspace_id, code),
  check (num_nonnulls(percent_off, amount_cents_off) = 1),
  check (max_uses is null or used_count + reserved_count <= max_uses)
);
create index discount_code_workspace on discount_code (workspace_id, id desc);

-- Buyers of a workspace, identified by their email; not users of the platform.
create table customer (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  email text not null,
  name text,
  -- Customer at the provider, and the card charged for renewals.
  provider text check (provider in ('SANDBOX', 'STRIPE')),
  provider_ref text,
  method_ref text,
  card_brand text,
  card_last4 text,
  card_exp_month integer,
  card_exp_year integer,
  -- Month of expiry (2027-03) of the last notification.
  card_expiry_notified_for text,
  -- A customer has one trial per creator.
  trial_used_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (workspace_id, email)
);
create index customer_email on customer (email);

create table checkout (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  kind text not null check (kind in ('SUBSCRIPTION', 'VIDEO', 'BOOKING')),
  status text not null default 'OPEN' check (status in ('OPEN', 'COMPLETED', 'EXPIRED', 'CANCELED')),
  tier_id text references tier (id) on delete cascade,
  video_id text,
  booking_id text,
  -- Product of a booking.
  product_id text,
  -- Snapshot of the offer; amount_cents is what the buyer pays.
  title text not null,
  interval text check (interval in ('MONTH', 'YEAR')),
  trial_days integer not null default 0,
  amount_cents integer not null check (amount_cents >= 0),
  discount_cents integer not null default 0 check (discount_cents >= 0),
  discount_code_id text references discount_code (id) on DELETE SET null,
  discount_code text,
  customer_email text,
  customer_id text references customer (id) on DELETE SET null,
  subscription_id text,
  purchase_id text,
  -- Current charge, and the number of charges so far.
  payment_id text,
  attempt_count integer not null default 0,
  success_url text not null,
  cancel_url text not null,
  client_reference_id text,
  metadata jsonb not null default '{}',
  -- Of the request that created it, so that a repetition after a crash finds it.
  operation_id text unique,
  -- While the buyer pays, the spot and the use of the code are reserved until then.
  reserved_until timestamptz,
  event_sequence integer not null default 0,
  expires_at timestamptz not null,
  completed_at timestamptz,
  created_at timestamptz not null,
  check (num_nonnulls(tier_id, video_id, booking_id) = 1)
);
create index checkout_workspace on checkout (workspace_id, id desc);
create index checkout_open on checkout (expires_at) where status = 'OPEN';
create index checkout_reserved on checkout (reserved_until) where reserved_until is not null;
create index checkout_booking on checkout (booking_id) where booking_id is not null;

create table subscription (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  tier_id text not null references tier (id),
  customer_id text not null references customer (id),
  checkout_id text,
  status text not null check (status in ('TRIALING', 'ACTIVE', 'PAST_DUE', 'CANCELED', 'EXPIRED')),
  -- Price of a period for this member, whatever the tier costs now.
  price_cents integer not null check (price_cents >= 0),
  interval text not null check (interval in ('MONTH', 'YEAR')),
  -- Card given for this subscription (docs/decisions/money.md#members).
  payment_method jsonb,
  -- Start that periods are counted from, in months of this time zone; a late renewal changes neither.
  anchor_at timestamptz not null,
  timezone text not null,
  next_period_month integer not null default 0,
  current_period_start timestamptz not null,
  current_period_end timestamptz not null,
  trial_ends_at timestamptz,
  -- Price, interval and tier from the next period on.
  pending_price_cents integer check (pending_price_cents >= 0),
  pending_interval text check (pending_interval in ('MONTH', 'YEAR')),
  pending_tier_id text references tier (id),
  -- When the member was notified of the pending price; null before.
  price_change_notified_at timestamptz,
  -- Price of a tier migration, which applies even when the pending change is canceled.
  migrated_price_cents integer check (migrated_price_cents >= 0),
  cancel_at_period_end boolean not null default false,
  canceled_at timestamptz,
  ended_at timestamptz,
  cancel_reason text
    check (cancel_reason in ('MEMBER_CANCELED', 'CREATOR_CANCELED', 'REFUNDED', 'DISPUTE_LOST', 'PAYMENT_FAILED')),
  -- Purchase of the current period; access ends when it is disputed.
  purchase_id text,
  is_disputed boolean not null default false,
  -- Upgrades paid in the current period, oldest first, each with the tier and price before it.
  upgrades jsonb not null default '[]',
  -- Failed charges of the current renewal, and the time of the next.
  failed_attempts integer not null default 0,
  next_charge_at timestamptz,
  -- Current charge, its kind, and the values that apply once it is paid.
  payment_id text,
  -- A CONFIRMATION is a renewal that the member pays in person, as the bank requires; it is not a failed attempt.
  charge_kind text check (charge_kind in ('RENEWAL', 'CONFIRMATION', 'SWITCH')),
  charge_tier_id text references tier (id),
  charge_price_cents integer check (charge_price_cents >= 0),
  charge_interval text check (charge_interval in ('MONTH', 'YEAR')),
  charge_period_month integer,
  -- Period of the last reminder of a yearly renewal.
  renewal_reminder_period integer,
  -- Month of expiry (2027-03) of the last notification.
  card_expiry_notified_for text,
  discount_code text,
  -- Discount of the first charge, which follows a trial; other discounts are spent at the start.
  discount_cents integer not null default 0 check (discount_cents >= 0),
  client_reference_id text,
  event_sequence integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((status in ('CANCELED', 'EXPIRED')) = (ended_at is not null)),
  check ((charge_kind is null) = (payment_id is null))
);
create index subscription_workspace on subscription (workspace_id, id desc);
create index subscription_customer on subscription (customer_id);
create index subscription_tier on subscription (tier_id) where ended_at is null;
create index subscription_due on subscription (next_charge_at) where next_charge_at is not null;
create index subscription_price_change_unnotified on subscription (id)
  where pending_price_cents is not null and price_change_notified_at is null and ended_at is null;
create index subscription_state on subscription (workspace_id, status, id collate "C" desc);
create index subscription_tier_state on subscription (tier_id, status, id collate "C" desc);

-- Emailed links to the member page, valid for one use.
create table member_link (
  token_hash bytea primary key,
  customer_id text not null references customer (id) on delete cascade,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null
);
create index member_link_customer on member_link (customer_id, created_at);
create index member_link_expiry on member_link (expires_at);

-- Addresses for which a member page requested a link. The worker checks whether a customer exists, so that the
-- response takes the same time in both cases.
create table member_link_request (
  id bigint generated always as identity primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  email text not null,
  created_at timestamptz not null
);

-- Cookies of the member page.
create table member_session (
  token_hash bytea primary key,
  customer_id text not null references customer (id) on delete cascade,
  workspace_id text not null references workspace (id) on delete cascade,
  expires_at timestamptz not null,
  created_at timestamptz not null
);
create index member_session_expiry on member_session (expires_at);
create index member_session_customer on member_session (customer_id);

-- One-time payments: a video, a booking, a period of a subscription.
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
  -- Status that a won dispute restores.
  status_before_dispute text check (status_before_dispute in ('PAID', 'PARTIALLY_REFUNDED')),
  amount_cents integer not null check (amount_cents >= 0),
  discount_cents integer not null default 0 check (discount_cents >= 0),
  discount_code text,
  fee_cents integer not null default 0,
  refunded_cents integer not null default 0,
  -- Part of the fee that was returned with refunds.
  fee_refunded_cents integer not null default 0,
  -- Newest charge.
  payment_id text,
  paid_at timestamptz,
  event_sequence integer not null default 0,
  created_at timestamptz not null,
  check (fee_cents >= 0 and fee_cents <= amount_cents),
  check (refunded_cents >= 0 and refunded_cents <= amount_cents),
  check (fee_refunded_cents >= 0 and fee_refunded_cents <= fee_cents)
);
create index purchase_workspace on purchase (workspace_id, id desc);
create index purchase_customer on purchase (customer_id, id desc);
create index purchase_subscription on purchase (subscription_id) where subscription_id is not null;
create index purchase_checkout on purchase (checkout_id) where checkout_id is not null;
create index purchase_state on purchase (workspace_id, kind, status, id collate "C" desc);
create index purchase_video on purchase (workspace_id, video_id, kind, status, id collate "C" desc)
  where video_id is not null;

-- Movements of money requested from or reported by a provider.
create table payment (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  purchase_id text references purchase (id) on delete cascade,
  type text not null check (type in ('CHARGE', 'REFUND', 'DISPUTE', 'FEE', 'ADJUSTMENT')),
  status text not null check (status in ('PENDING', 'SUCCEEDED', 'FAILED', 'CANCELED')),
  -- From the creator's view: charges are positive; refunds, disputes and fees negative.
  amount_cents integer not null,
  provider text not null check (provider in ('SANDBOX', 'STRIPE', 'NONE')),
  -- ID at the provider; the idempotency key of the request finds it after a crash.
  provider_ref text,
  provider_key text not null unique,
  -- Parameters of the request, so that any process can repeat it.
  request jsonb not null default '{}',
  -- Payment method of the charge, later the one saved with it.
  payment_method jsonb,
  -- Page that the buyer has to visit: of the provider, or of the bank for a second factor.
  action_url text,
  failure_code text,
  failure_message text,
  -- Of refunds: identifies the request, so that double clicks are harmless.
  request_id text,
  reason text,
  -- Of disputes.
  outcome text check (outcome in ('WON', 'LOST')),
  provider_requested_at timestamptz,
  next_poll_at timestamptz,
  -- The provider is not asked about the payment before.
  next_ask_at timestamptz,
  settled_at timestamptz,
  event_sequence integer not null default 0,
  created_at timestamptz not null
);
create index payment_workspace on payment (workspace_id, id desc);
create index payment_purchase on payment (purchase_id, id);
create unique index payment_ref on payment (provider, provider_ref) where provider_ref is not null;
create unique index payment_request on payment (purchase_id, request_id) where request_id is not null;
create index payment_open on payment (next_poll_at) where status = 'PENDING';
create index payment_state on payment (workspace_id, type, status, id collate "C" desc);

-- Events of a provider, by ID, so that a repeated one is handled once. An event is a hint: the object is fetched.
create table provider_event (
  provider text not null check (provider in ('SANDBOX', 'STRIPE')),
  id text not null,
  kind text not null check (kind in ('PAYMENT', 'REFUND', 'DISPUTE', 'PAYOUT', 'ACCOUNT', 'CARD')),
  object_ref text not null,
  -- Connected account; null for the platform's own.
  account_ref text,
  received_at timestamptz not null,
  handled_at timestamptz,
  attempts integer not null default 0,
  next_attempt_at timestamptz,
  error text,
  primary key (provider, id)
);
create index provider_event_open on provider_event (next_attempt_at) where handled_at is null;

-- Polling for events that a provider did not deliver: everything up to then is known.
create table provider_poll_state (
  provider text primary key check (provider in ('SANDBOX', 'STRIPE')),
  synced_until timestamptz not null
);

-- Creator's account at the provider, as last fetched.
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
  -- Last sync of the account's payouts.
  payouts_synced_at timestamptz,
  created_at timestamptz not null,
  unique (provider, provider_ref)
);

create table payout (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  provider text not null check (provider in ('SANDBOX', 'STRIPE')),
  provider_ref text,
  amount_cents integer not null check (amount_cents > 0),
  -- ISO 4217. Stripe pays some creators in another currency than US dollars (docs/decisions/money.md#payouts).
  currency text not null default 'USD' check (currency ~ '^[A-Z]{3}$'),
  status text not null check (status in ('PENDING', 'IN_TRANSIT', 'PAID', 'FAILED', 'CANCELED')),
  failure_code text,
  arrival_at timestamptz,
  event_sequence integer not null default 0,
  created_at timestamptz not null,
  unique (provider, provider_ref)
);
create index payout_workspace on payout (workspace_id, id desc);
create index payout_state on payout (workspace_id, status, id collate "C" desc);
create index payout_created on payout (workspace_id, created_at);

-- Data of the built-in provider: written only by it, in transactions of its own, like a provider's database.
create table sandbox_card (
  ref text primary key,
  key text not null unique,
  workspace_id text not null references workspace (id) on delete cascade,
  customer_id text not null,
  -- Name of the test card; their numbers are public.
  card text not null,
  created_at timestamptz not null
);

create table sandbox_payment (
  ref text primary key,
  key text not null unique,
  workspace_id text not null references workspace (id) on delete cascade,
  -- 0: canceled before it was requested.
  amount_cents integer not null check (amount_cents >= 0),
  fee_cents integer not null default 0,
  status text not null check (status in ('ACTION', 'SUCCEEDED', 'FAILED', 'CANCELED')),
  description text not null default '',
  return_url text,
  card text,
  -- Card saved for later charges.
  card_ref text references sandbox_card (ref),
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

-- Accounts of each workspace and provider (docs/decisions/money.md#the-ledger).
create table ledger_account (
  id text primary key,
  workspace_id text not null,
  provider text not null check (provider in ('SANDBOX', 'STRIPE')),
  -- BUYERS: money from buyers less refunds, a negative balance. CREATOR: not yet paid out. FEES: earned by the
  -- platform. DISPUTED: held back by banks. PAID_OUT: transferred to the creator's bank. The provider holds CREATOR
  -- and FEES.
  kind text not null check (kind in ('BUYERS', 'CREATOR', 'FEES', 'DISPUTED', 'PAID_OUT')),
  created_at timestamptz not null,
  unique (workspace_id, provider, kind)
);

create table ledger_transaction (
  id text primary key,
  workspace_id text not null,
  kind text not null
    check (kind in (
      'CHARGE', 'REFUND', 'DISPUTE_OPENED', 'DISPUTE_WON', 'DISPUTE_LOST', 'PAYOUT', 'PAYOUT_FAILED', 'ADJUSTMENT')),
  -- ID of the payment or payout that caused it; once per kind.
  source text not null,
  -- Of sales: what was sold, and the tier, product or video.
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
  -- Positive into the account, negative out of it; the entries of a transaction sum to zero.
  amount_cents bigint not null check (amount_cents <> 0),
  primary key (transaction_id, account_id)
);
create index ledger_entry_account on ledger_entry (account_id, transaction_id) include (amount_cents);

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

-- Rollups of the ledger, written in the transaction of the entries. They can be recomputed at any time.
create table ledger_revenue (
  workspace_id text not null,
  -- Start of the quarter-hour, of which the days of every time zone are made.
  quarter_hour timestamptz not null,
  gross_cents bigint not null,
  fee_cents bigint not null,
  refund_cents bigint not null,
  sale_count integer not null,
  primary key (workspace_id, quarter_hour)
);

create table ledger_revenue_item (
  workspace_id text not null,
  -- Start of the UTC day.
  day timestamptz not null,
  sale_kind text not null check (sale_kind in ('VIDEO', 'BOOKING', 'SUBSCRIPTION')),
  item_id text not null,
  gross_cents bigint not null,
  fee_cents bigint not null,
  refund_cents bigint not null,
  sale_count integer not null,
  primary key (workspace_id, day, sale_kind, item_id)
);
