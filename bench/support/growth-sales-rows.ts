import type { Rows } from './growth-rows.ts';

/** Rows of sales, payments and bookings; see `growth-rows.ts`. */

const days = 400;

const PURCHASES: Rows = {
  table: 'purchase',
  list: '/purchases',
  days,
  insert: `insert into purchase (id, workspace_id, customer_id, kind, video_id, subscription_id, status, amount_cents, created_at)
    select bench_id('pur', at, $3, n), $1, 'cus_' || $3, kind,
      case when kind = 'VIDEO' then case n when 3 then 'vid_one' else 'vid_of_' || n % 2 end end,
      case when kind = 'SUBSCRIPTION' then 'sub_of_' || n % 10 end,
      case when n = 1 then 'DISPUTED' when is_old then 'REFUNDED' when n % 50 = 0 then 'FAILED' else 'PAID' end, 1000, at
    from bench_rows($2, 400), lateral (select case when n = 2 then 'BOOKING' when is_old and n > 9 then 'SUBSCRIPTION'
      else 'VIDEO' end) of (kind)`,
};

const PAYMENTS: Rows = {
  table: 'payment',
  list: '/monetization/payments',
  days,
  insert: `insert into payment (id, workspace_id, purchase_id, type, status, amount_cents, provider, provider_key, created_at)
    select bench_id('pay', at, $3, n), $1, 'pur_of_' || n,
      case when n = 1 then 'DISPUTE' when is_old then 'REFUND' else 'CHARGE' end,
      case when n = 2 then 'PENDING' when is_old then 'CANCELED' when n % 50 = 0 then 'FAILED' else 'SUCCEEDED' end,
      case when is_old then -1000 else 1000 end, 'SANDBOX', $3 || n, at
    from bench_rows($2, 400)`,
};

const SUBSCRIPTIONS: Rows = {
  table: 'subscription',
  list: '/me/subscriptions',
  days,
  insert: `insert into subscription (id, workspace_id, tier_id, customer_id, status, price_cents, interval, anchor_at,
      timezone, current_period_start, current_period_end, ended_at, created_at, updated_at)
    select bench_id('sub', at, $3, n), $1, 'tier_' || $3 || case when n = 3 then 2 else n % 2 end, 'cus_' || $3, status,
      500, 'MONTH', at, 'UTC', at, at + interval '1 month', case when status in ('CANCELED', 'EXPIRED') then at end, at, at
    from bench_rows($2, 400), lateral (select case when n = 1 then 'PAST_DUE' when is_old then 'EXPIRED'
      when n % 50 = 0 then 'CANCELED' else 'ACTIVE' end) of (status)`,
};

const SUBSCRIBERS: Rows = {
  table: 'subscriber',
  list: '/subscribers',
  days,
  insert: `insert into subscriber (id, workspace_id, email, name, status, source, event_sequence, created_at, updated_at)
    select bench_id('sbr', at, $3, n), $1,
      case when n = 3 then 'zebra' when is_old then 'archive' || n else 'person' || n end || '@example.com',
      case when n % 2 = 0 then 'Person number ' || n || case when n * 2 <= $2 then ', first half' else '' end end,
      case when n = 1 then 'PENDING' when is_old then 'UNSUBSCRIBED' else 'CONFIRMED' end, 'API', 1, at, at
    from bench_rows($2, 400)`,
};

const BOOKINGS: Rows = {
  table: 'booking',
  list: '/booking/bookings',
  days,
  insert: `insert into booking (id, workspace_id, product_id, type, status, starts_at, ends_at, timezone, customer_name,
      customer_email, amount_cents, canceled_by, created_at, updated_at)
    select bench_id('bkg', at, $3, n), $1, 'bkp_' || $3 || case when n = 3 then 2 else n % 2 end, 'ONE_TO_ONE', status,
      at + interval '3 days', at + interval '73 hours', 'UTC', 'Ada',
      case when n % 4 = 0 then 'many' else 'person' || n % 1000 end || '@example.com', 0,
      case when status = 'CANCELED' then 'CUSTOMER' end, at, at
    from bench_rows($2, 400), lateral (select case when n = 1 then 'NO_SHOW' when is_old then 'EXPIRED'
      when n % 50 = 0 then 'CANCELED' else 'COMPLETED' end) of (status)`,
};

const WAITLIST: Rows = {
  table: 'waitlist_entry',
  list: '/booking/waitlist',
  days,
  insert: `insert into waitlist_entry (id, workspace_id, product_id, cohort_id, email, position, status, created_at, updated_at)
    select bench_id('wl', at, $3, n), $1, 'bkp_' || $3 || case when n = 3 then 2 else n % 2 end,
      'coh_' || $3 || case when n = 4 then 2 else n % 2 end, 'person' || n || '@example.com', n,
      case when n = 1 then 'WAITING' when is_old then 'EXPIRED' when n % 50 = 0 then 'REMOVED' else 'CONVERTED' end, at, at
    from bench_rows($2, 400)`,
};

const CODES: Rows = {
  table: 'discount_code',
  list: '/booking/discount-codes',
  days,
  insert: `insert into discount_code (id, workspace_id, code, percent_off, created_at, updated_at)
    select bench_id('dsc', at, $3, n), $1, 'CODE' || n, 10, at, at from bench_rows($2, 400)`,
};

/** Reported by a provider two days later. */
const PAYOUTS: Rows = {
  table: 'payout',
  list: '/me/payouts',
  days,
  insert: `insert into payout (id, workspace_id, provider, provider_ref, amount_cents, status, created_at)
    select bench_id('pyo', at, $3, n), $1, 'STRIPE', $3 || n, 1000,
      case when n = 1 then 'FAILED' when is_old then 'CANCELED' else 'PAID' end, at - interval '2 days'
    from bench_rows($2, 400)`,
};

export const SALES_ROWS: readonly Rows[] = [
  ...[PURCHASES, PAYMENTS, PAYOUTS, SUBSCRIPTIONS, SUBSCRIBERS],
  ...[BOOKINGS, WAITLIST, CODES],
];
