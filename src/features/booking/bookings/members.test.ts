import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import ICAL from 'ical.js';
import { bookingClient, hoursOf } from '../../../../test/booking/booking-client.ts';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { jobWorker, runTask } from '../../../../test/harness/modules.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import type { Shop } from '../../../../test/money/shop.ts';
import { startJobWorkers } from '../../../jobs/worker.ts';
import { HOUR_MS } from '../../../kernel/durations.ts';

const clock = new TestClock(Date.UTC(2027, 2, 1, 8, 30));
let app: TestApp;
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

const { creator, cohort, booked, act, mails, eventsOf } = bookingClient(() => app);
const hour = hoursOf(clock);

const session = (startsAt: string) => ({
  startsAt,
  endsAt: new Date(Date.parse(startsAt) + HOUR_MS / 2).toISOString(),
});

const patch = ({ key }: Shop, id: string, body: object) =>
  app.request('PATCH', `/booking/cohorts/${id}`, { key, body });

async function sessionIds({ key }: Shop, id: string): Promise<string[]> {
  const answer = (await app.request('GET', `/booking/cohorts/${id}`, { key })).assertOk(200);
  return answer.list('data.sessions').map((one) => String(Object(one).id));
}

const lettersTo = async (name: string, kind: string) =>
  (await mails(kind)).filter(({ recipient }) => recipient === `${name.toLowerCase()}@example.com`);

interface Entry {
  session: string | undefined;
  startsAt: string;
  sequence: string;
  status: string;
}

/** Parses a calendar as an email client does, with times by its own VTIMEZONE. */
function read(text: string | null | undefined): { method: string; entries: Entry[] } {
  const parsed: unknown = ICAL.parse(text ?? '');
  assert.ok(Array.isArray(parsed));
  const root = new ICAL.Component(parsed);
  ICAL.TimezoneService.reset();
  for (const zone of root.getAllSubcomponents('vtimezone'))
    ICAL.TimezoneService.register(new ICAL.Timezone(zone));
  const entries = root.getAllSubcomponents('vevent').map((event) => {
    const value = (name: string) => event.getFirstPropertyValue(name)?.toString() ?? '';
    const start = event.getFirstPropertyValue('dtstart');
    assert.ok(start instanceof ICAL.Time);
    const startsAt = new Date(start.toUnixTime() * 1000).toISOString();
    const [, id] = /^bkg_\w+-(cse_\w+)@marquee[.]test$/.exec(value('uid')) ?? [];
    return { session: id, startsAt, sequence: value('sequence'), status: value('status') };
  });
  return { method: root.getFirstPropertyValue('method')?.toString() ?? '', entries };
}

async function pendingNotifications(): Promise<number> {
  const [row] = await app.container.sql<{ count: number }[]>`select count(*)::int as count from job
    where name = 'booking.cohort-moved' and state in ('waiting', 'active')`;
  return row?.count ?? 0;
}

/** Runs two workers concurrently until no notification is due. */
async function notifyMembers(): Promise<void> {
  const { container } = app;
  const start = () =>
    startJobWorkers({ ...container, workers: [jobWorker(container, 'booking.cohort-moved')] });
  const workers = [start(), start()];
  await waitFor(async () => (await pendingNotifications()) === 0);
  await Promise.all(workers.map((one) => one.stop()));
}

test('cohort emails carry the sessions, and each change is sent to members once', async () => {
  const of = await creator();
  const [first, moved, second, third] = [hour(30), hour(31), hour(54), hour(78)];
  const { productId, cohortId } = await cohort(of, {
    ...{ startsAt: first, timezone: 'Europe/Berlin', capacity: 5 },
    sessions: [session(first), session(second)],
  });
  await booked(of, { productId, cohortId }, 'Ann');
  const bob = await booked(of, { productId, cohortId }, 'Bob');
  const [one, two] = await sessionIds(of, cohortId);
  const [confirmed] = await lettersTo('Ann', 'booking-confirmed');
  const state = { sequence: '0', status: 'CONFIRMED' };
  assert.match(confirmed?.calendar ?? '', /BEGIN:VTIMEZONE[\s\S]*DTSTART;TZID=Europe\/Berlin:/);
  assert.deepEqual(read(confirmed?.calendar), {
    method: 'REQUEST',
    entries: [
      { session: one, startsAt: first, ...state },
      { session: two, startsAt: second, ...state },
    ],
  });

  const other = await cohort(of, { startsAt: third, sessions: [session(third)] });
  const refused = [session(moved), session(third)];
  (await patch(of, cohortId, { sessions: refused })).assertError('CONFLICT', 'sessions.1.startsAt');
  assert.equal(await pendingNotifications(), 0, 'what is refused tells nobody');
  (await app.request('DELETE', `/booking/cohorts/${other.cohortId}`, { key: of.key })).assertOk(200);
  const wanted = [{ id: one, ...session(moved) }, session(third)];
  (await patch(of, cohortId, { sessions: wanted })).assertOk(200);
  assert.equal((await lettersTo('Ann', 'booking-moved')).length, 0, 'a worker tells them');
  await notifyMembers();
  const [, added] = await sessionIds(of, cohortId);
  for (const name of ['Ann', 'Bob']) {
    const told = await lettersTo(name, 'booking-moved');
    assert.equal(told.length, 1);
    assert.match(told[0]?.text ?? '', /Sessions:\n- [^\n]*\n- [^\n]*\n\nNo longer taking place:\n- /);
    assert.deepEqual(read(told[0]?.calendar), {
      method: 'REQUEST',
      entries: [
        { session: one, startsAt: moved, sequence: '1', status: 'CONFIRMED' },
        { session: added, startsAt: third, sequence: '1', status: 'CONFIRMED' },
        { session: two, startsAt: second, sequence: '1', status: 'CANCELLED' },
      ],
    });
  }

  await booked(of, { productId, cohortId }, 'Late');
  const known = [
    { id: one, ...session(moved) },
    { id: added, ...session(third) },
  ];
  (await patch(of, cohortId, { title: 'Spring', capacity: 9, sessions: known })).assertOk(200);
  assert.equal(await pendingNotifications(), 0, 'nothing was moved');
  assert.equal((await eventsOf(of)).filter((type) => type === 'booking.cohort.rescheduled').length, 1);
  (await act(of, bob, 'cancel')).assertOk(200);
  const [canceled] = await lettersTo('Bob', 'booking-canceled');
  assert.deepEqual(read(canceled?.calendar), {
    method: 'CANCEL',
    entries: [
      { session: one, startsAt: moved, sequence: '2', status: 'CANCELLED' },
      { session: added, startsAt: third, sequence: '2', status: 'CANCELLED' },
    ],
  });
  (await patch(of, cohortId, { sessions: [] })).assertOk(200);
  await notifyMembers();
  const last = read((await lettersTo('Ann', 'booking-moved')).at(-1)?.calendar);
  assert.equal(last.method, 'CANCEL');
  assert.deepEqual(
    last.entries.map(({ session: id, sequence }) => [id, sequence]),
    [one, added].map((id) => [id, '2']),
  );
  const counts = await Promise.all(['Ann', 'Late', 'Bob'].map((name) => lettersTo(name, 'booking-moved')));
  assert.deepEqual(
    counts.map(({ length }) => length),
    [2, 1, 1],
    'who came later hears of what came later, and who left of nothing more',
  );
});

test('a cohort without sessions has no calendar; its new time counts for its members', async () => {
  const of = await creator();
  const [later, sooner] = [hour(72), hour(48)];
  const { productId, cohortId } = await cohort(of, { startsAt: hour(24) }, { refundPolicyDays: 1 });
  const id = await booked(of, { productId, cohortId }, 'Cleo');
  assert.equal((await lettersTo('Cleo', 'booking-confirmed'))[0]?.calendar, null);
  (await patch(of, cohortId, { startsAt: later })).assertOk(200);
  (await patch(of, cohortId, { startsAt: sooner })).assertOk(200);
  await notifyMembers();
  const told = await lettersTo('Cleo', 'booking-moved');
  assert.equal(told.length, 1, 'two changes before anybody was told are one');
  assert.equal(told[0]?.calendar, null);
  assert.match(told[0]?.text ?? '', /When: Wednesday, 3 March 2027 at 09:00 \(Europe\/Berlin\)/);
  const listed = (await app.request('GET', `/booking/bookings?from=${sooner}`, { key: of.key })).assertOk(
    200,
  );
  assert.deepEqual(
    listed.list('data').map((row) => Object(row).id),
    [id],
  );
  const now = clock.ms();
  clock.set(hour(36));
  (await act(of, id, 'no-show')).assertError('CONFLICT');
  const left = await act(of, id, 'simulate', { event: 'CUSTOMER_CANCELED' });
  assert.equal(left.assertOk(200).at('data.refundedCents'), 0, 'moving it opens no time to cancel again');
  clock.set(now);
});

test('members are reminded once before each session, and again when it moved', async () => {
  const of = await creator();
  const [first, second, third] = [hour(30), hour(32), hour(36)];
  const { productId, cohortId } = await cohort(of, {
    startsAt: first,
    sessions: [session(first), session(second)],
  });
  await booked(of, { productId, cohortId }, 'Dora');
  const [one, two] = await sessionIds(of, cohortId);
  /** Runs two workers an hour before the start. */
  const remindedBefore = async (startsAt: string) => {
    clock.set(Date.parse(startsAt) - HOUR_MS);
    await Promise.all([runTask(app.container, 'bookings'), runTask(app.container, 'bookings')]);
    await runTask(app.container, 'bookings');
    return (await lettersTo('Dora', 'booking-reminder')).length;
  };
  clock.set(Date.parse(first) - HOUR_MS - 1);
  await runTask(app.container, 'bookings');
  assert.equal((await lettersTo('Dora', 'booking-reminder')).length, 0);
  assert.equal(await remindedBefore(first), 1);
  // The session they were reminded of is last now, and the other one is between.
  const swapped = [
    { id: two, ...session(second) },
    { id: one, ...session(third) },
  ];
  clock.set(Date.parse(first) - 1);
  (await patch(of, cohortId, { sessions: swapped })).assertOk(200);
  assert.equal(await remindedBefore(second), 2);
  const soon = new Date(Date.parse(second) + HOUR_MS / 2).toISOString();
  (await patch(of, cohortId, { sessions: [...swapped, session(soon)] })).assertOk(200);
  assert.equal(await remindedBefore(second), 2, 'the mail that tells of it came within the hour');
  assert.equal(await remindedBefore(third), 3);
  const last = (await lettersTo('Dora', 'booking-reminder')).at(-1)?.text ?? '';
  assert.doesNotMatch(last, /Cancel here/, 'it has begun');
  assert.match(last, /\/bookings\/bkg_\w+\/join\?token=/);
  assert.match(last, /When: Tuesday, 2 March 2027 at 21:00 \(Europe\/Berlin\)/);
  const events = (await app.request('GET', '/me/events?order=asc', { key: of.key })).assertOk(200);
  const told = events.list('data').map((event) => Object(event));
  assert.deepEqual(
    told.filter(({ type }) => type === 'booking.reminder').map(({ data }) => data.startsAt),
    [first, second, third],
  );
});
