import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { HOUR_MS } from '../../src/kernel/durations.ts';
import { SECRET_KEY, startTestApp, type TestApp } from '../harness/app.ts';
import { TestClock } from '../harness/clock.ts';
import { runTask } from '../harness/modules.ts';
import { type RunningPlatform, startPlatform } from '../harness/platform.ts';
import { assertConsistent } from '../money/invariants.ts';
import { checkoutClient, ORIGIN, type Shop } from '../money/shop.ts';
import { bookingClient, hoursOf } from './booking-client.ts';

/** App for inspecting the database of the platforms; its clock is a day ahead in the end. */
let app: TestApp;
const clock = new TestClock(Date.now());
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

const { creator, product, open } = bookingClient(() => app);
const hour = hoursOf(clock);
const SEATS = 3;

const start = (): Promise<RunningPlatform> =>
  startPlatform({
    environment: {
      DATABASE_URL: app.databaseUrl,
      SECRET_KEY: SECRET_KEY.toString('hex'),
      PUBLIC_URL: ORIGIN,
    },
  });

/**
 * Pays all checkouts, and kills the process after `answersBefore` responses. @returns the number without a
 * response.
 */
async function payAndKill(checkouts: readonly string[], answersBefore: number): Promise<number> {
  const platform = await start();
  const { pay } = checkoutClient(() => ({ ...app, url: platform.url }));
  let answered = 0;
  const tries = await Promise.allSettled(
    checkouts.map(async (id) => {
      await pay(id);
      answered += 1;
      if (answered === answersBefore) platform.process.kill('SIGKILL');
    }),
  );
  await platform.stop();
  return tries.filter(({ status }) => status === 'rejected').length;
}

/** Times of one creator, a day after the other, and a class with fewer seats than buyers. */
async function checkoutsOf(of: Shop, round: number, lesson: string, course: string): Promise<string[]> {
  const day = 24 * (2 + 2 * round);
  const wanted = Array.from({ length: 10 }, (_, n) => ({ productId: lesson, startsAt: hour(day + n) }));
  const seats = Array.from({ length: 6 }, () => ({ productId: course, startsAt: hour(day + 24) }));
  const made = [];
  for (const [n, what] of [...wanted, ...seats].entries())
    made.push(await open(of, what, `Buyer${round}x${n}`));
  return made.map(({ id }) => id);
}

test('a process killed while bookings are paid leaves no booking half created', {
  timeout: 300_000,
}, async () => {
  const of = await creator();
  const lesson = await product(of);
  const course = await product(of, { type: 'LIVE_CLASS', capacity: SEATS });
  let unheard = 0;
  for (const [round, answers] of [1, 5].entries()) {
    unheard += await payAndKill(await checkoutsOf(of, round, lesson, course), answers);
  }
  assert.ok(unheard > 0, 'somebody was paying when the process was killed');
  // The reconciler queries the provider for each payment, and unpaid bookings expire: those of a class within
  // a day.
  clock.advance(25 * HOUR_MS);
  for (const task of ['open payments', 'checkouts', 'open payments', 'checkouts']) {
    await runTask(app.container, task);
  }
  await assertAtRest(of);
});

/** Asserts that each booking is paid and has its slot, or has neither, and was emitted once. */
async function assertAtRest({ account: { test: workspaceId } }: Shop): Promise<void> {
  const { sql } = app.container;
  await assertConsistent(sql, workspaceId);
  const rows = await sql<
    { id: string; status: string; type: string; taken: number; kept: number; told: number; mailed: number }[]
  >`
    select b.id, b.status, b.type,
      (select count(*)::int from calendar_busy where booking_id = b.id) as taken,
      (select coalesce(sum(p.amount_cents - p.refunded_cents), 0)::int from purchase p
        where p.id = b.purchase_id and p.status = 'PAID') as kept,
      (select count(*)::int from event e where e.type = 'booking.confirmed'
        and (e.body::jsonb #>> '{data,bookingId}') = b.id) as told,
      (select count(*)::int from mail m where m.kind = 'booking-confirmed' and m.recipient = b.customer_email) as mailed
    from booking b where b.workspace_id = ${workspaceId}`;
  const confirmed = rows.filter(({ status }) => status === 'CONFIRMED');
  assert.ok(confirmed.length > 0);
  for (const row of rows) {
    assert.match(row.status, /^(CONFIRMED|EXPIRED)$/, row.id);
    const isOn = row.status === 'CONFIRMED';
    const wanted = { kept: isOn ? 5000 : 0, told: isOn ? 1 : 0, mailed: isOn ? 1 : 0 };
    const { kept, told, mailed } = row;
    assert.deepEqual({ kept, told, mailed }, wanted, `${row.id} ${row.status}`);
    assert.equal(row.taken, isOn && row.type === 'ONE_TO_ONE' ? 1 : 0, `${row.id} ${row.status}`);
  }
  const classes = await sql<{ booked: number; claimed: number; of: number }[]>`
    select booked_count as booked, reserved_count as claimed, (select count(*)::int from booking b
      where b.occurrence_id = c.id and b.status = 'CONFIRMED') as of
    from class_occurrence c where workspace_id = ${workspaceId}`;
  for (const { booked, claimed, of } of classes) {
    assert.deepEqual([booked, claimed], [of, 0]);
    assert.ok(booked <= SEATS);
  }
}
