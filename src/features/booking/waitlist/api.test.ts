import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bookingBrowser } from '../../../../test/booking/booking-browser.ts';
import { bookingClient } from '../../../../test/booking/booking-client.ts';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { headers, type Shop } from '../../../../test/money/shop.ts';
import { DAY_MS, HOUR_MS } from '../../../kernel/durations.ts';

let app: TestApp;
const clock = new TestClock('2026-11-20T10:00:00Z');
const { creator, product, booked, open, ask, act, pay, mails } = bookingClient(() => app);
const { takeOffer } = bookingBrowser(
  () => app,
  () => app,
);
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

const SLOT = '2026-11-25T10:00:00.000Z';

const join = ({ key }: Shop, productId: string, body: object) =>
  app.request('POST', `/booking/products/${productId}/waitlist`, { key, body });
const waits = async (of: Shop, productId: string, body: object) =>
  (await join(of, productId, body)).assertOk(201).string('data.id');
const entry = async ({ key }: Shop, id: string) =>
  (await app.request('GET', `/booking/waitlist/${id}`, { key })).assertOk(200);
const status = async (of: Shop, id: string) => (await entry(of, id)).string('data.status');
/** Reads the stored status, also while the creator is suspended. */
async function statusNow(id: string): Promise<string | undefined> {
  const [row] = await app.container.sql<{ status: string }[]>`
    select status from waitlist_entry where id = ${id}`;
  return row?.status;
}
const remove = ({ key }: Shop, id: string) => app.request('DELETE', `/booking/waitlist/${id}`, { key });
const sweep = () => runTask(app.container, 'waitlist');

async function waitlistEvents({ key }: Shop): Promise<string[]> {
  const rows = (await app.request('GET', '/me/events?order=asc&limit=100', { key }))
    .assertOk(200)
    .list('data');
  return rows.map((row) => String(Object(row).type)).filter((type) => type.startsWith('booking.waitlist.'));
}

/** Creates a creator with a free booking at the slot. */
async function taken() {
  const of = await creator();
  const id = await product(of, { priceCents: 0 });
  const { bookingId } = await open(of, { productId: id, startsAt: SLOT }, 'Holder');
  return { of, id, bookingId };
}

async function cohortOf({ key }: Shop, productId: string, more: object = {}): Promise<string> {
  const times = { startsAt: '2026-12-20T09:00:00Z', enrollmentClosesAt: '2026-11-23T06:00:00Z' };
  const body = { ...times, capacity: 1, ...more };
  const made = await app.request('POST', `/booking/products/${productId}/cohorts`, { key, body });
  return made.assertOk(201).string('data.id');
}

/** Creates a cohort with one seat, which is taken. */
async function full(of: Shop) {
  const { key } = of;
  const body = { title: 'A course', type: 'COHORT', priceCents: 0 };
  const id = (await app.request('POST', '/booking/products', { key, body })).assertOk(201).string('data.id');
  const cohort = await cohortOf(of, id);
  (await app.request('POST', `/booking/products/${id}/publish`, { key })).assertOk(200);
  await open(of, { productId: id, cohortId: cohort }, 'Member');
  return { id, cohort };
}

test('a freed spot is offered to the first in line, then to the next, and others cannot book it', async () => {
  const { of, id, bookingId } = await taken();
  const first = await waits(of, id, { email: 'Ann@Example.com', name: 'Ann', startsAt: SLOT });
  const second = await waits(of, id, { email: 'ben@example.com', startsAt: SLOT });
  const any = await waits(of, id, { email: 'cleo@example.com' });
  const shown = await entry(of, first);
  assert.equal(shown.string('data.email'), 'ann@example.com');
  assert.deepEqual([shown.at('data.position'), shown.at('data.cohortId')], [1, null]);
  assert.equal((await entry(of, second)).at('data.position'), 2);
  (await join(of, id, { email: 'ANN@example.com ', startsAt: SLOT })).assertError('CONFLICT', 'email');

  (await act(of, bookingId, 'cancel')).assertOk(200);
  assert.deepEqual([await status(of, first), await status(of, second)], ['OFFERED', 'WAITING']);
  const offered = await entry(of, first);
  assert.equal(Date.parse(offered.string('data.offerExpiresAt')) - clock.ms(), DAY_MS);
  const slots = await app.request('GET', `/booking/products/${id}/slots?from=2026-11-25&to=2026-11-25`, of);
  const starts = slots
    .assertOk(200)
    .list('data.slots')
    .map((slot) => Object(slot).startsAt);
  assert.equal(starts.length, 23);
  assert.ok(!starts.includes(SLOT));
  const [mail] = (await mails('waitlist-offered')).filter(({ recipient }) => recipient === 'ann@example.com');
  assert.match(mail?.text ?? '', new RegExp(`/waitlist/${first}\\?key=[\\w-]{43}`));

  clock.advance(DAY_MS);
  await sweep();
  assert.deepEqual([await status(of, first), await status(of, second)], ['EXPIRED', 'OFFERED']);
  (await remove(of, second)).assertOk(200);
  assert.deepEqual([await status(of, second), await status(of, any)], ['REMOVED', 'OFFERED']);
  assert.equal((await entry(of, any)).string('data.startsAt'), SLOT, 'whoever takes any is told which');
  (await remove(of, any)).assertOk(200);
  (await join(of, id, { email: 'dan@example.com', startsAt: SLOT })).assertError('CONFLICT', 'startsAt');
  // All have the same timestamp, so their order is undefined.
  assert.deepEqual((await waitlistEvents(of)).toSorted(), [
    ...Array.from({ length: 3 }, () => 'booking.waitlist.joined'),
    ...Array.from({ length: 3 }, () => 'booking.waitlist.offered'),
  ]);
});

/** Books an offered spot by the emailed link and returns its checkout and booking. */
async function takenBy(of: Shop, email: string, name: string) {
  const id = (await takeOffer(email, name)).split('/').at(-1) ?? '';
  const found = await app.request('GET', `/checkout/${id}`, { key: of.key, headers });
  return { id, bookingId: found.assertOk(200).string('data.bookingId') };
}

test('an offered spot is booked by the emailed link, and its entry is CONVERTED once it is paid', async () => {
  const of = await creator();
  const id = await product(of);
  const bookingId = await booked(of, { productId: id, startsAt: SLOT }, 'Holder');
  const first = await waits(of, id, { email: 'eve@example.com', startsAt: SLOT });
  (await act(of, bookingId, 'cancel')).assertOk(200);
  const slot = { productId: id, startsAt: SLOT };
  for (const name of ['Mallory', 'Eve']) (await ask(of, slot, name)).assertError('CONFLICT', 'startsAt');
  const given = await takenBy(of, 'eve@example.com', 'Eve');
  assert.equal(await status(of, first), 'OFFERED');
  // The payment was late: the spot is held for her again, as the offer is still valid.
  clock.advance(HOUR_MS);
  await runTask(app.container, 'checkouts');
  (await ask(of, slot, 'Mallory')).assertError('CONFLICT', 'startsAt');
  const again = await takenBy(of, 'eve@example.com', 'Eve');
  assert.notEqual(again.bookingId, given.bookingId);
  await pay(again.id);
  const converted = await entry(of, first);
  assert.equal(converted.string('data.status'), 'CONVERTED');
  assert.equal(converted.string('data.bookingId'), again.bookingId);
  (await remove(of, first)).assertError('CONFLICT');
  assert.ok((await waitlistEvents(of)).includes('booking.waitlist.converted'));
});

test('several freed class seats are offered to as many entries, in order', async () => {
  const of = await creator();
  const id = await product(of, { type: 'LIVE_CLASS', capacity: 3, priceCents: 0 });
  const seats = [];
  for (const name of ['Kim', 'Lou', 'Max'])
    seats.push((await open(of, { productId: id, startsAt: SLOT }, name)).bookingId);
  const waiting = [];
  for (const n of [1, 2, 3, 4]) {
    waiting.push(await waits(of, id, { email: `w${n}@example.com`, startsAt: SLOT }));
  }
  await Promise.all(seats.map((seat) => act(of, seat, 'cancel')));
  const states = await Promise.all(waiting.map((one) => status(of, one)));
  assert.deepEqual(states, ['OFFERED', 'OFFERED', 'OFFERED', 'WAITING']);
  clock.advance(DAY_MS);
  // Runs two workers concurrently.
  await Promise.all([sweep(), sweep()]);
  assert.equal(await status(of, String(waiting[3])), 'OFFERED');
  assert.equal(
    (await mails('waitlist-offered')).filter(({ recipient }) => recipient === 'w4@example.com').length,
    1,
  );
  const [row] = await app.container.sql<{ reserved_count: number; booked_count: number }[]>`
    select reserved_count, booked_count from class_occurrence where product_id = ${id}`;
  assert.deepEqual({ ...row }, { reserved_count: 1, booked_count: 0 });
});

test('seats of a full cohort, and of one before its enrollment, are offered as they become available', async () => {
  clock.set('2026-11-22T12:00:00Z');
  const of = await creator();
  const { id, cohort } = await full(of);
  const first = await waits(of, id, { email: 'c1@example.com', cohortId: cohort });
  const any = await waits(of, id, { email: 'c2@example.com' });
  const more = await app.request('PATCH', `/booking/cohorts/${cohort}`, {
    key: of.key,
    body: { capacity: 2 },
  });
  more.assertOk(200);
  await sweep();
  assert.deepEqual([await status(of, first), await status(of, any)], ['OFFERED', 'WAITING']);
  assert.equal((await entry(of, first)).string('data.offerExpiresAt'), '2026-11-23T06:00:00.000Z');
  const seat = { productId: id, cohortId: cohort };
  for (const name of ['Mallory', 'C1']) (await ask(of, seat, name)).assertError('CONFLICT');
  assert.equal(await status(of, first), 'OFFERED', 'whoever types the address takes nothing');
  await takeOffer('c1@example.com', 'Kim');
  assert.equal(await status(of, first), 'CONVERTED');

  const later = await cohortOf(of, id, { enrollmentOpensAt: '2026-11-22T18:00:00Z' });
  const early = await waits(of, id, { email: 'c3@example.com', cohortId: later });
  clock.set('2026-11-22T18:00:00Z');
  await runTask(app.container, 'cohorts');
  await sweep();
  assert.deepEqual([await status(of, any), await status(of, early)], ['OFFERED', 'WAITING']);
  assert.equal((await entry(of, any)).string('data.cohortId'), later);
  (await remove(of, any)).assertOk(200);
  assert.equal(await status(of, early), 'OFFERED');
});

test('an offer expires when its spot can no longer be booked, and entries for past spots expire', async () => {
  const of = await creator();
  const id = await product(of, { priceCents: 0 });
  const soon = '2026-12-01T12:00:00.000Z';
  clock.set('2026-12-01T10:30:00Z');
  const { bookingId } = await open(of, { productId: id, startsAt: soon }, 'Holder');
  const first = await waits(of, id, { email: 'f@example.com', startsAt: soon });
  const second = await waits(of, id, { email: 's@example.com', startsAt: soon });
  (await act(of, bookingId, 'cancel')).assertOk(200);
  assert.equal((await entry(of, first)).string('data.offerExpiresAt'), soon);
  clock.set(soon);
  await sweep();
  assert.deepEqual([await status(of, first), await status(of, second)], ['EXPIRED', 'EXPIRED']);
});

test('the sweep checks every spot in turn, and offers none of a suspended creator', async () => {
  const { sql } = app.container;
  clock.set('2026-11-22T12:00:00Z');
  const of = await creator();
  const busy = await product(of, { priceCents: 0 });
  // Entries for a spot that never becomes free and sorts first.
  await sql`insert into waitlist_entry (id, workspace_id, product_id, starts_at, email, position, created_at, updated_at)
    select 'wl_' || lpad(n::text, 26, '0'), workspace_id, id, '2027-12-01T09:00:00Z'::timestamptz + n * interval '1 day',
      'filler@example.com', 1, created_at, created_at
    from booking_product, generate_series(1, 250) n where id = ${busy}`;
  const { id, cohort } = await full(of);
  const first = await waits(of, id, { email: 'turn@example.com', cohortId: cohort });
  const suspend = (at: Date | null) =>
    sql`update account set suspended_at = ${at} where id = ${of.account.id}`;
  await suspend(clock.now());
  await sql`update cohort set capacity = 2, status = 'OPEN' where id = ${cohort}`;
  await sweep();
  await sweep();
  assert.equal(await statusNow(first), 'WAITING');
  await suspend(null);
  await sweep();
  await sweep();
  assert.equal(await status(of, first), 'OFFERED');
  await sql`delete from waitlist_entry where product_id = ${busy}`;
});

test('an entry inserted by a node of an older version is confirmed', async () => {
  const { sql } = app.container;
  const of = await creator();
  const id = await product(of);
  const shown = await entry(of, await waits(of, id, { email: 'newer@example.com' }));
  assert.equal(shown.string('data.confirmedAt'), clock.now().toISOString());
  // Inserts a row as versions without the column do.
  const older = `wl_${'0'.repeat(26)}`;
  await sql`insert into waitlist_entry (id, workspace_id, product_id, email, position, created_at, updated_at)
    select ${older}, workspace_id, id, 'older@example.com', 2, ${clock.now()}, ${clock.now()}
      from booking_product where id = ${id}`;
  clock.advance(2 * DAY_MS + 1);
  await sweep();
  assert.equal(await status(of, older), 'WAITING');
});

test('an impossible waitlist spot is rejected by its field', async () => {
  const of = await creator();
  const id = await product(of);
  const email = 'x@example.com';
  const refused = async (body: object, code: 'BAD_REQUEST' | 'CONFLICT' | 'NOT_FOUND', field?: string) =>
    (await join(of, id, body)).assertError(code, field);
  const free = '2026-12-10T10:00:00Z';
  await refused({}, 'BAD_REQUEST', 'email');
  await refused({ email: 'nobody' }, 'BAD_REQUEST', 'email');
  await refused({ email, name: '' }, 'BAD_REQUEST', 'name');
  await refused({ email, startsAt: 'soon' }, 'BAD_REQUEST', 'startsAt');
  await refused({ email, startsAt: '2020-01-01T10:00:00Z' }, 'BAD_REQUEST', 'startsAt');
  await refused({ email, startsAt: '2026-12-10T10:17:00Z' }, 'BAD_REQUEST', 'startsAt');
  await refused({ email, cohortId: 'coh_x' }, 'BAD_REQUEST', 'cohortId');
  await refused({ email, startsAt: free }, 'CONFLICT', 'startsAt');
  const stranger = await creator();
  (await join(stranger, id, { email })).assertError('NOT_FOUND');
  const any = await waits(of, id, { email });
  (await app.request('GET', `/booking/waitlist/${any}`, stranger)).assertError('NOT_FOUND');
  (await remove(stranger, any)).assertError('NOT_FOUND');
});

test('the list is filtered and paginated', async () => {
  const of = await creator();
  const [one, other] = [await product(of), await product(of, { title: 'Another' })];
  for (const n of [1, 2, 3]) await waits(of, one, { email: `p${n}@example.com` });
  (await remove(of, await waits(of, other, { email: 'p1@example.com' }))).assertOk(200);
  const emails = async (query: string) => {
    const answer = await app.request('GET', `/booking/waitlist?order=asc&${query}`, of);
    return answer
      .assertOk(200)
      .list('data')
      .map((row) => String(Object(row).email));
  };
  assert.deepEqual(await emails(`productId=${one}&status=WAITING`), [
    'p1@example.com',
    'p2@example.com',
    'p3@example.com',
  ]);
  assert.deepEqual(await emails('status=REMOVED,EXPIRED'), ['p1@example.com']);
  assert.deepEqual(await emails('cohortId=coh_x'), []);
  const page = (await app.request('GET', `/booking/waitlist?limit=3`, of)).assertOk(200);
  const next = await app.request(
    'GET',
    `/booking/waitlist?limit=3&cursor=${page.string('pagination.nextCursor')}`,
    of,
  );
  assert.equal(next.assertOk(200).list('data').length, 1);
  (await app.request('GET', '/booking/waitlist?status=LOST', of)).assertError('BAD_REQUEST', 'status');
});
