import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import ICAL from 'ical.js';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS, HOUR_MS } from '../../../kernel/durations.ts';
import { newId } from '../../../kernel/ids.ts';
import { calendar } from './busy.ts';
import type { BusyOwner } from './index.ts';

const clock = new TestClock(Date.UTC(2027, 0, 3, 12));
let app: TestApp;
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

async function creator() {
  const { key, account } = await app.createKey();
  const body = { title: 'Yoga, für alle; \\o/', type: 'ONE_TO_ONE', priceCents: 0 };
  const productId = (await app.request('POST', '/booking/products', { key, body }))
    .assertOk(201)
    .string('data.id');
  const hours = { weeklyJson: {}, timezone: 'Europe/Berlin' };
  (await app.request('PUT', '/booking/availability', { key, body: hours })).assertOk(200);
  return { key, workspaceId: account.live, productId };
}

type Creator = Awaited<ReturnType<typeof creator>>;

/** Inserts a booking of one hour that begins in `days` days; a pending one is held for another hour. */
async function booked(of: Creator, days: number, status: 'CONFIRMED' | 'PENDING_PAYMENT' = 'CONFIRMED') {
  const id = newId('bkg');
  const startsAt = dateFromMs(clock.ms() + days * DAY_MS);
  const endsAt = dateFromMs(startsAt.getTime() + HOUR_MS);
  await app.container.db
    .insertInto('booking')
    .values({
      ...{ id, workspace_id: of.workspaceId, product_id: of.productId, type: 'ONE_TO_ONE', status },
      ...{ starts_at: startsAt, ends_at: endsAt, timezone: 'UTC', customer_name: 'Zoë\n"the" first' },
      ...{
        customer_email: 'zoe@example.com',
        amount_cents: 0,
        created_at: clock.now(),
        updated_at: clock.now(),
      },
    })
    .execute();
  await take(of, startsAt, { bookingId: id });
  return { id, startsAt, endsAt };
}

async function take({ workspaceId, productId }: Creator, startsAt: Date, by: BusyOwner) {
  const freeAt = dateFromMs(startsAt.getTime() + 2 * HOUR_MS);
  const time = { workspaceId, productId, startsAt, freeAt, by };
  assert.ok(await app.container.db.transaction().execute((tx) => calendar.take(tx, time)));
}

async function classed(of: Creator, days: number, bookedCount: number) {
  const id = newId('occ');
  const startsAt = dateFromMs(clock.ms() + days * DAY_MS);
  const endsAt = dateFromMs(startsAt.getTime() + HOUR_MS);
  await app.container.db
    .insertInto('class_occurrence')
    .values({
      ...{ id, workspace_id: of.workspaceId, product_id: of.productId, starts_at: startsAt, ends_at: endsAt },
      ...{ capacity: 8, booked_count: bookedCount, created_at: clock.now() },
    })
    .execute();
  await take(of, startsAt, { occurrenceId: id });
  return id;
}

/** Creates a feed and returns its path, because tests use another origin. */
async function feedPath(key: string): Promise<string> {
  const answer = (await app.request('POST', '/booking/feed/rotate', { key })).assertOk(200);
  return new URL(answer.string('data.url')).pathname;
}

const open = (path: string, headers: Record<string, string> = {}) => fetch(app.url + path, { headers });

test('a feed lists bookings in a form that a strict parser reads', async () => {
  const of = await creator();
  const { id, startsAt, endsAt } = await booked(of, 100);
  await booked(of, 2, 'PENDING_PAYMENT');
  await booked(of, -32);
  const past = await booked(of, -29);
  const taught = await classed(of, 3, 5);
  await classed(of, 4, 0);
  const answer = await open(await feedPath(of.key));
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'text/calendar; charset=utf-8');
  const parsed: unknown = ICAL.parse(await answer.text());
  assert.ok(Array.isArray(parsed));
  const root = new ICAL.Component(parsed);
  ICAL.TimezoneService.reset();
  for (const zone of root.getAllSubcomponents('vtimezone'))
    ICAL.TimezoneService.register(new ICAL.Timezone(zone));
  const events = root.getAllSubcomponents('vevent').map((one) => new ICAL.Event(one));
  assert.deepEqual(
    events.map(({ uid }) => String(uid).split('@')[0]),
    [past.id, taught, id],
  );
  assert.equal(events[1]?.description, '5 of 8 seats are booked.');
  const last = events[2];
  assert.equal(last?.summary, 'Yoga, für alle; \\o/: Zoë\n"the" first');
  assert.equal(last?.startDate.toUnixTime(), startsAt.getTime() / 1000);
  assert.equal(last?.endDate.toUnixTime(), endsAt.getTime() / 1000);
});

test('an unchanged feed returns 304 until something changes', async () => {
  const of = await creator();
  const path = await feedPath(of.key);
  const first = await open(path);
  const etag = first.headers.get('etag') ?? '';
  assert.equal(first.status, 200);
  assert.equal((await open(path, { 'if-none-match': `"other", W/${etag}` })).status, 304);
  await booked(of, 1);
  assert.equal((await open(path, { 'if-none-match': etag })).status, 200);
});

test('a feed URL ends when it is rotated, and with the feed', async () => {
  const { key } = await creator();
  assert.equal((await app.request('GET', '/booking/feed', { key })).assertOk(200).at('data.url'), null);
  const old = await feedPath(key);
  const path = await feedPath(key);
  const shown = (await app.request('GET', '/booking/feed', { key })).assertOk(200).string('data.url');
  assert.equal(new URL(shown).pathname, path);
  assert.equal((await open(old)).status, 404);
  assert.equal((await open(path)).status, 200);
  assert.equal((await open(path.slice(0, -1))).status, 404);
  (await app.request('DELETE', '/booking/feed', { key })).assertOk(200);
  assert.equal((await open(path)).status, 404);
  (await app.request('DELETE', '/booking/feed', { key })).assertOk(200);
});

test('the feed URL is shown only to callers who may change it', async () => {
  const { key, account } = await app.createKey();
  const url = (await app.request('POST', '/booking/feed/rotate', { key })).assertOk(200).at('data.url');
  const permissions = ['booking:read'];
  const grants = [
    { scope: 'READ_ONLY' as const },
    { scope: 'STANDARD' as const, permissions },
    { scope: 'STANDARD' as const, permissions: ['booking:write'] },
  ];
  const shown: unknown[] = [];
  for (const grant of grants) {
    const { key: other } = await app.createKey({ account, ...grant });
    const answer = (await app.request('GET', '/booking/feed', { key: other })).assertOk(200);
    assert.notEqual(answer.at('data.createdAt'), null);
    shown.push(answer.at('data.url'));
  }
  assert.deepEqual(shown, [null, null, url]);
});

test('a suspended creator has no feed', async () => {
  const of = await creator();
  const path = await feedPath(of.key);
  const setStanding = (suspended_at: Date | null) =>
    app.container.db
      .updateTable('account')
      .set({ suspended_at })
      .where('id', 'in', (eb) =>
        eb.selectFrom('workspace').select('account_id').where('workspace.id', '=', of.workspaceId),
      )
      .execute();
  await setStanding(clock.now());
  assert.equal((await open(path)).status, 404);
  await setStanding(null);
  assert.equal((await open(path)).status, 200);
});
