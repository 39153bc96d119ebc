import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { insertAccount } from '../../../../test/harness/factories.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { MINUTE_MS } from '../../../kernel/durations.ts';
import { newId } from '../../../kernel/ids.ts';
import { calendar } from './busy.ts';
import type { BusyOwner, Span } from './index.ts';

let t: TestDatabase;
before(async () => {
  t = await createTestDatabase({ pool: 30 });
});
after(() => t.close());

const START_MS = Date.UTC(2027, 0, 4, 9);

/** Returns a range in minutes since the start of the tests. */
const span = (from: number, to: number): Span => ({
  startsAt: dateFromMs(START_MS + from * MINUTE_MS),
  freeAt: dateFromMs(START_MS + to * MINUTE_MS),
});

/** Creates a creator with a product and bookings that have no time yet. */
async function creator() {
  const { live: workspaceId } = await insertAccount(t.db);
  const productId = newId('bkp');
  const now = dateFromMs(START_MS);
  await t.db
    .insertInto('booking_product')
    .values({
      id: productId,
      workspace_id: workspaceId,
      type: 'ONE_TO_ONE',
      title: 'Talk',
      price_cents: 0,
      duration_min: 60,
      buffer_min: 0,
      capacity: 1,
      recordable: false,
      replay_access_days: 0,
      refund_policy_days: 0,
      created_at: now,
      updated_at: now,
    })
    .execute();
  const booking = async (): Promise<BusyOwner> => {
    const bookingId = newId('bkg');
    await t.db
      .insertInto('booking')
      .values({
        id: bookingId,
        workspace_id: workspaceId,
        product_id: productId,
        type: 'ONE_TO_ONE',
        status: 'PENDING_PAYMENT',
        starts_at: now,
        timezone: 'UTC',
        customer_name: 'A',
        customer_email: 'a@example.com',
        amount_cents: 0,
        created_at: now,
        updated_at: now,
      })
      .execute();
    return { bookingId };
  };
  const take = (by: BusyOwner, time: Span) =>
    t.db.transaction().execute((tx) => calendar.take(tx, { workspaceId, productId, by, ...time }));
  const move = (by: BusyOwner, time: Span) =>
    t.db.transaction().execute((tx) => calendar.move(tx, workspaceId, by, time));
  const busy = () => calendar.busy(t.db, workspaceId, { from: dateFromMs(0), to: dateFromMs(START_MS * 2) });
  return { workspaceId, productId, booking, take, move, busy };
}

test('adjacent times do not overlap, and a rejected one leaves its transaction usable', async () => {
  const { workspaceId, productId, booking, take, busy } = await creator();
  const [first, second, third] = [await booking(), await booking(), await booking()];
  assert.equal(await take(first, span(0, 60)), true);
  assert.equal(await take(second, span(60, 120)), true);
  await t.db.transaction().execute(async (tx) => {
    const asked = { workspaceId, productId, by: third };
    assert.equal(await calendar.take(tx, { ...asked, ...span(119, 130) }), false);
    assert.equal(await calendar.take(tx, { ...asked, ...span(-10, 1) }), false);
    assert.equal(await calendar.take(tx, { ...asked, ...span(120, 130) }), true);
  });
  assert.deepEqual(
    (await busy()).map(({ startsAt, freeAt, bookingId }) => ({ startsAt, freeAt, bookingId })),
    [
      { ...span(0, 60), ...first },
      { ...span(60, 120), ...second },
      { ...span(120, 130), ...third },
    ],
  );
});

test('calendars of two creators are independent', async () => {
  const [one, other] = [await creator(), await creator()];
  assert.equal(await one.take(await one.booking(), span(0, 60)), true);
  assert.equal(await other.take(await other.booking(), span(0, 60)), true);
  assert.equal((await one.busy()).length, 1);
});

test('one of a hundred concurrent takes of overlapping times succeeds', async () => {
  const { booking, take, busy } = await creator();
  const wishes = await Promise.all(Array.from({ length: 100 }, booking));
  const taken = await Promise.all(wishes.map((by, i) => take(by, span(i % 20, 60 + (i % 20)))));
  assert.equal(taken.filter(Boolean).length, 1);
  assert.equal((await busy()).length, 1);
});

test('a waiting transaction gets a time when the first one releases it', async () => {
  const { workspaceId, productId, booking, take, busy } = await creator();
  const [first, second] = [await booking(), await booking()];
  const waiting: Promise<boolean>[] = [];
  await t.db
    .transaction()
    .execute(async (tx) => {
      assert.equal(await calendar.take(tx, { workspaceId, productId, by: first, ...span(0, 60) }), true);
      waiting.push(take(second, span(30, 90)));
      throw new Error('given up');
    })
    .catch(() => {});
  assert.deepEqual(await Promise.all(waiting), [true]);
  assert.equal((await busy()).length, 1);
});

test('a move is atomic and may overlap the interval that it leaves', async () => {
  const { booking, take, move, busy } = await creator();
  const [first, second] = [await booking(), await booking()];
  await take(first, span(0, 60));
  await take(second, span(120, 180));
  assert.equal(await move(first, span(90, 150)), false);
  assert.equal(await move(first, span(30, 90)), true);
  assert.equal(await move(await booking(), span(300, 360)), false);
  assert.deepEqual(
    (await busy()).map(({ startsAt, freeAt }) => ({ startsAt, freeAt })),
    [span(30, 90), span(120, 180)],
  );
});

test('concurrent moves and takes neither lose nor double a time', async () => {
  const { booking, take, move, busy } = await creator();
  const bookings = await Promise.all(Array.from({ length: 6 }, booking));
  for (const [i, by] of bookings.entries()) await take(by, span(i * 60, i * 60 + 60));
  const moves = bookings.flatMap((by, i) =>
    [1, 5, 6, 7, 8].map((step) => move(by, span(((i + step) % 9) * 60, ((i + step) % 9) * 60 + 60))),
  );
  const takes = [6, 7, 8, 6, 7, 8].map(async (place) =>
    take(await booking(), span(place * 60, place * 60 + 60)),
  );
  const taken = (await Promise.all(takes)).filter(Boolean).length;
  await Promise.all(moves);
  const rows = await busy();
  assert.equal(rows.length, 6 + taken);
  for (const by of bookings) {
    assert.equal(rows.filter(({ bookingId }) => 'bookingId' in by && bookingId === by.bookingId).length, 1);
  }
});

test('a time is freed, and transferred', async () => {
  const { workspaceId, productId, booking, take, busy } = await creator();
  const [first, second] = [await booking(), await booking()];
  await take(first, span(0, 60));
  await t.db.transaction().execute(async (tx) => {
    assert.equal(await calendar.handOver(tx, first, second), true);
    assert.equal(await calendar.handOver(tx, first, second), false);
    await calendar.free(tx, first);
    await calendar.lock(tx, workspaceId);
    await calendar.free(tx, second);
    assert.equal(await calendar.take(tx, { workspaceId, productId, by: first, ...span(30, 40) }), true);
  });
  const rows = await busy();
  assert.equal(rows.length, 1);
  assert.deepEqual({ bookingId: rows[0]?.bookingId }, first);
});
