import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { MINUTE_MS } from '../../../kernel/durations.ts';
import { AppError } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { calendar } from '../calendars/busy.ts';
import type { BusyOwner } from '../calendars/index.ts';

// A Sunday; all windows are on the following Monday.
const NOW = Date.UTC(2027, 0, 3, 12);
const clock = new TestClock(NOW);
let app: TestApp;
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

const HOURS = { weeklyJson: { mon: [{ start: '09:00', end: '13:00' }] }, timezone: 'Europe/Berlin' };
const COACHING = { title: 'Coaching', type: 'ONE_TO_ONE', priceCents: 0, durationMin: 60 };

async function creator(product: object = {}, hours: object = {}) {
  const { key, account } = await app.createKey();
  const put = { key, body: { ...HOURS, ...hours } };
  (await app.request('PUT', '/booking/availability', put)).assertOk(200);
  const make = async (body: object) => {
    const made = await app.request('POST', '/booking/products', { key, body: { ...COACHING, ...body } });
    return made.assertOk(201).string('data.id');
  };
  const productId = await make(product);
  const get = (query: string, id = productId) =>
    app.request('GET', `/booking/products/${id}/slots?${query}`, { key });
  /** Lists the Monday's slots as `10:00`, or `10:00 x3` when three seats are left. */
  const times = async (id = productId) => {
    const answer = (await get('from=2027-01-04&to=2027-01-04', id)).assertOk(200);
    return answer.list('data.slots').map((slot) => {
      const { localStart, seatsLeft } = Object(slot);
      return `${String(localStart).slice(11)}${seatsLeft === 1 ? '' : ` x${seatsLeft}`}`;
    });
  };
  return { key, workspaceId: account.live, productId, make, get, times };
}

type Creator = Awaited<ReturnType<typeof creator>>;

/** Returns an instant of the Monday by the wall clock of Berlin. */
const monday = (hour: number, minute = 0) => dateFromMs(Date.UTC(2027, 0, 4, hour - 1, minute));

async function booked(of: Creator, startsAt: Date, minutes: number): Promise<BusyOwner> {
  const { db } = app.container;
  const bookingId = newId('bkg');
  const now = clock.now();
  await db
    .insertInto('booking')
    .values({
      ...{ id: bookingId, workspace_id: of.workspaceId, product_id: of.productId, type: 'ONE_TO_ONE' },
      ...{ status: 'CONFIRMED', starts_at: startsAt, timezone: 'UTC', customer_name: 'A' },
      ...{ customer_email: 'a@example.com', amount_cents: 0, created_at: now, updated_at: now },
    })
    .execute();
  const by = { bookingId };
  await take(of, startsAt, minutes, by);
  return by;
}

async function take({ workspaceId, productId }: Creator, startsAt: Date, minutes: number, by: BusyOwner) {
  const freeAt = dateFromMs(startsAt.getTime() + minutes * MINUTE_MS);
  const isTaken = await app.container.db
    .transaction()
    .execute((tx) => calendar.take(tx, { workspaceId, productId, startsAt, freeAt, by }));
  assert.ok(isTaken);
}

/** Inserts a class occurrence with the given number of booked seats. */
async function held(of: Creator, startsAt: Date, bookedCount: number): Promise<void> {
  const id = newId('occ');
  const endsAt = dateFromMs(startsAt.getTime() + 60 * MINUTE_MS);
  await app.container.db
    .insertInto('class_occurrence')
    .values({
      ...{ id, workspace_id: of.workspaceId, product_id: of.productId, starts_at: startsAt, ends_at: endsAt },
      ...{ capacity: 5, booked_count: bookedCount, reserved_count: 1, created_at: clock.now() },
    })
    .execute();
  await take(of, startsAt, 60, { occurrenceId: id });
}

test('slots have instants, wall times of the requested zone, and the days of that zone', async () => {
  const { get, productId } = await creator();
  const day = (await get('from=2027-01-04&to=2027-01-04&timezone=america/new_york')).assertOk(200);
  assert.equal(day.string('data.productId'), productId);
  assert.equal(day.string('data.timezone'), 'America/New_York');
  assert.deepEqual(day.list('data.slots')[0], {
    startsAt: '2027-01-04T08:00:00.000Z',
    endsAt: '2027-01-04T09:00:00.000Z',
    localStart: '2027-01-04T03:00',
    seatsLeft: 1,
  });
  // Half of Monday in Berlin is Tuesday there.
  const kiribati = (await get('from=2027-01-05&to=2027-01-05&timezone=Pacific/Kiritimati')).assertOk(200);
  assert.equal(kiribati.list('data.slots').length, 2);
  const own = (await get('')).assertOk(200);
  assert.equal(own.string('data.timezone'), 'Europe/Berlin');
  assert.equal(own.list('data.slots').length, 16);
});

test('an invalid query names the field', async () => {
  const { get, key } = await creator();
  const refused: [query: string, field: string][] = [
    ['from=2027-01-05&to=2027-01-04', 'to'],
    ['from=2027-01-01&to=2027-03-04', 'to'],
    ['from=9999-01-01', 'from'],
    ['from=tomorrow', 'from'],
    ['to=2027-13-01', 'to'],
    ['timezone=Mars/Olympus', 'timezone'],
    ['timezone=%2B01:00', 'timezone'],
  ];
  for (const [query, field] of refused) (await get(query)).assertError('BAD_REQUEST', field);
  (await get('from=2027-01-01&to=2027-03-03')).assertOk(200);
  (await app.request('GET', `/booking/products/${newId('bkp')}/slots`, { key })).assertError('NOT_FOUND');
});

test('a query with too many slots is rejected', async () => {
  const { get } = await creator(
    { durationMin: 1 },
    { weeklyJson: { mon: [{ start: '00:00', end: '24:00' }], tue: [{ start: '00:00', end: '24:00' }] } },
  );
  (await get('from=2027-01-04&to=2027-01-10')).assertOk(200);
  (await get('from=2027-01-04&to=2027-02-20')).assertError('BAD_REQUEST', 'to');
});

test('busy time of any product, with its buffer, blocks the slots of all products', async () => {
  const of = await creator({ bufferMin: 15 });
  assert.deepEqual(await of.times(), ['09:00', '10:15', '11:30']);
  const other = await of.make({ durationMin: 30 });
  await booked(of, monday(10, 15), 75);
  assert.deepEqual(await of.times(), ['09:00', '11:30']);
  assert.deepEqual(await of.times(other), ['09:00', '09:30', '11:30', '12:00', '12:30']);
});

test('a booked class is open to its own product until it is full', async () => {
  const of = await creator({ type: 'LIVE_CLASS', capacity: 5 });
  const talk = await of.make({});
  await held(of, monday(10), 2);
  assert.deepEqual(await of.times(), ['09:00 x5', '10:00 x2', '11:00 x5', '12:00 x5']);
  assert.deepEqual(await of.times(talk), ['09:00', '11:00', '12:00']);
  // Outside of the windows.
  await held(of, monday(15), 0);
  await held(of, monday(12), 4);
  assert.deepEqual(await of.times(), ['09:00 x5', '10:00 x2', '11:00 x5', '15:00 x4']);
});

test('a product without times has no slots', async () => {
  const of = await creator({ type: 'COHORT' });
  assert.deepEqual(await of.times(), []);
  const empty = await creator({}, { weeklyJson: {} });
  assert.deepEqual(await empty.times(), []);
  const away = await creator({}, { blackoutsJson: [{ start: '2027-01-04', end: '2027-01-04' }] });
  assert.deepEqual(await away.times(), []);
  const soon = await creator({}, { minNoticeMin: 22 * 60 });
  assert.deepEqual(await soon.times(), ['11:00', '12:00']);
});

test('a single start is offered, taken, or not a slot', async () => {
  const of = await creator();
  const { db, slots, products } = app.container;
  const product = await products.get(of.workspaceId, of.productId);
  const ask = (startsAt: Date, except?: BusyOwner) => slots.assertOffered(db, product, startsAt, except);
  const refuses = (startsAt: Date, code: string, except?: BusyOwner) =>
    assert.rejects(
      ask(startsAt, except),
      (error) => error instanceof AppError && error.code === code && error.field === 'startsAt',
    );
  assert.deepEqual(await ask(monday(10)), {
    ...{ startsAt: monday(10), endsAt: monday(11), freeAt: monday(11), seatsLeft: 1 },
  });
  const by = await booked(of, monday(10), 60);
  await refuses(monday(10), 'CONFLICT');
  await refuses(monday(10), 'CONFLICT', { bookingId: newId('bkg') });
  assert.equal((await ask(monday(10), by)).seatsLeft, 1);
  for (const startsAt of [monday(9, 30), monday(13), dateFromMs(0), dateFromMs(Date.UTC(9999, 0, 1))]) {
    await refuses(startsAt, 'BAD_REQUEST');
  }
  await refuses(dateFromMs(Date.UTC(2027, 5, 7, 8)), 'BAD_REQUEST');
});
