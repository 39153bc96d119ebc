import { DAY_MS } from '../src/kernel/durations.ts';
import { startTestApp } from '../test/harness/app.ts';
import { median, report } from './support/report.ts';

/**
 * Measures lists of slots: 62 days of a creator with 5,000 bookings, by the service, and as sequential HTTP
 * requests of one client.
 *
 * Argument: bookings (5,000), every quarter of an hour.
 */
const BOOKINGS = Number(process.argv[2] ?? 5000);
const READS = 200;
const UNLIMITED = 2_000_000_000;
const DAY = [{ start: '00:00', end: '24:00' }];
const WEEK = { mon: DAY, tue: DAY, wed: DAY, thu: DAY, fri: DAY, sat: DAY, sun: DAY };

async function p50(read: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < READS; n++) {
    const begun = performance.now();
    await read();
    times.push(performance.now() - begun);
  }
  return median(times);
}

const app = await startTestApp();
const { sql, slots } = app.container;
const { account, key } = await app.createKey({ rateLimitPerMinute: UNLIMITED });
const hours = { weeklyJson: WEEK, timezone: 'Europe/Berlin', maxAdvanceDays: 100 };
(await app.request('PUT', '/booking/availability', { key, body: hours })).assertOk(200);
const body = { title: 'Coaching', type: 'ONE_TO_ONE', priceCents: 0, durationMin: 30 };
const made = (await app.request('POST', '/booking/products', { key, body })).assertOk(201);
const productId = made.string('data.id');
await sql`insert into booking (id, workspace_id, product_id, type, status, starts_at, ends_at, timezone, customer_name,
    customer_email, amount_cents, created_at, updated_at)
  select 'bkg_' || lpad(n::text, 26, '0'), ${account.live}, ${productId}, 'ONE_TO_ONE', 'CONFIRMED',
    at, at + interval '15 minutes', 'UTC', 'Ada', 'ada@example.com', 0, now(), now()
  from generate_series(0, ${BOOKINGS - 1}::integer) n,
    lateral (select date_trunc('day', now()) + interval '2 days' + n * interval '15 minutes' as at) time`;
await sql`insert into calendar_busy (calendar_number, starts_at, busy_until, product_id, booking_id)
  select calendar_number, starts_at, ends_at, product_id, booking.id
  from booking join workspace on workspace.id = booking.workspace_id`;
await sql`analyze`;

const day = (count: number) => new Date(Date.now() + count * DAY_MS).toISOString().slice(0, 10);
const query = { from: day(1), to: day(62) };
await p50(() => slots.list(account.live, productId, query));
report({
  name: `slots of 62 days with ${BOOKINGS} bookings, as the service answers, p50`,
  value: await p50(() => slots.list(account.live, productId, query)),
  unit: 'ms',
  target: '<= 10',
});
const path = `/booking/products/${productId}/slots?from=${query.from}&to=${query.to}`;
const get = async () => (await app.request('GET', path, { key })).assertOk(200);
report({
  name: `slots of 62 days with ${BOOKINGS} bookings, as an HTTP request, p50`,
  value: await p50(get),
  unit: 'ms',
  target: '<= 20',
});
await app.close();
