import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bookingClient, hoursOf } from '../../../../test/booking/booking-client.ts';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { addVideo, madeUpFiles } from '../../../../test/videos/fixture.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../kernel/durations.ts';
import { roomRecordingReady } from '../../rooms/events.ts';

const clock = new TestClock(Date.UTC(2027, 2, 1, 8, 30));
let app: TestApp;
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

const { memberCookie, cohort, creator, product, open, booking, booked, act, mails, busyOf, eventsOf } =
  bookingClient(() => app);

const hour = hoursOf(clock);

test('a cancellation within the policy or by the creator refunds the payment and frees the time', async () => {
  const of = await creator();
  const productId = await product(of, { refundPolicyDays: 2 });
  const simulate = (id: string, event: string, more: object = {}) =>
    act(of, id, 'simulate', { event, ...more });
  const inTime = await booked(of, { productId, startsAt: hour(49) });
  const canceled = (await simulate(inTime, 'CUSTOMER_CANCELED')).assertOk(200);
  assert.deepEqual(
    ['status', 'canceledBy', 'refundedCents'].map((name) => canceled.at(`data.${name}`)),
    ['CANCELED', 'CUSTOMER', 5000],
  );
  assert.deepEqual(await busyOf(inTime), []);
  const late = await booked(of, { productId, startsAt: hour(47) });
  const moved = hour(80);
  (await simulate(late, 'CUSTOMER_RESCHEDULED', { startsAt: moved })).assertOk(200);
  const kept = (await simulate(late, 'CUSTOMER_CANCELED')).assertOk(200);
  assert.equal(kept.at('data.refundedCents'), 0, 'moving it does not open the time to cancel again');
  const own = await booked(of, { productId, startsAt: hour(20) });
  const answer = (await act(of, own, 'cancel', { reason: 'I am ill.' })).assertOk(200);
  assert.deepEqual(
    ['canceledBy', 'cancelReason', 'refundedCents'].map((name) => answer.at(`data.${name}`)),
    ['CREATOR', 'I am ill.', 5000],
  );
  (await app.request('POST', `/booking/bookings/${own}/cancel`, { key: of.key })).assertOk(200);
  const hard = await booked(of, { productId, startsAt: hour(20) });
  assert.equal((await act(of, hard, 'cancel', { refund: false })).assertOk(200).at('data.refundedCents'), 0);
  const { bookingId } = await open(of, { productId, startsAt: hour(60) });
  (await act(of, bookingId, 'cancel')).assertError('CONFLICT');
  (await act(of, own, 'cancel', { reason: 'x'.repeat(501) })).assertError('BAD_REQUEST', 'reason');
  const [told] = (await mails('booking-canceled')).filter(({ text }) => text?.includes('I am ill.'));
  assert.match(told?.text ?? '', /refunded to your card/);
});

test('a refund by the creator does not count as the refund of a cancellation', async () => {
  const of = await creator();
  const productId = await product(of);
  const id = await booked(of, { productId, startsAt: hour(49) });
  const purchaseId = (await booking(of, id)).string('data.purchaseId');
  const refund = { amountCents: 1, requestId: `canceled:${id}` };
  const path = `/purchases/${purchaseId}/refund`;
  (await app.request('POST', path, { key: of.key, body: refund })).assertOk(201);
  (await app.request('POST', path, { key: of.key, body: { requestId: 'cancel' } })).assertError(
    'BAD_REQUEST',
    'requestId',
  );
  const canceled = (await act(of, id, 'simulate', { event: 'CUSTOMER_CANCELED' })).assertOk(200);
  assert.equal(canceled.at('data.refundedCents'), 5000, 'all that was left');
});

test('a move never leaves a booking with no time or with both', async () => {
  const of = await creator();
  const productId = await product(of, { bufferMin: 30, durationMin: 30 });
  const [a, b] = [hour(48), hour(50)];
  const ann = await booked(of, { productId, startsAt: a });
  const bob = await booked(of, { productId, startsAt: b }, 'Bob');
  (await act(of, ann, 'reschedule', { startsAt: b })).assertError('CONFLICT', 'startsAt');
  assert.equal((await busyOf(ann))[0]?.[0], a);
  (await act(of, ann, 'reschedule', { startsAt: hour(-3) })).assertError('BAD_REQUEST', 'startsAt');
  (await act(of, ann, 'reschedule', {})).assertError('BAD_REQUEST', 'startsAt');
  const target = hour(52);
  const answers = await Promise.all([ann, bob].map((id) => act(of, id, 'reschedule', { startsAt: target })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
  const won = answers[0]?.status === 200 ? ann : bob;
  const row = await booking(of, won);
  assert.equal(row.at('data.startsAt'), target);
  assert.equal(row.at('data.rescheduledFrom'), won === ann ? a : b);
  assert.deepEqual(await busyOf(won), [[target, new Date(Date.parse(target) + HOUR_MS).toISOString()]]);
  assert.ok((await eventsOf(of)).includes('booking.rescheduled'));
  assert.equal((await mails('booking-moved')).filter(({ text }) => text?.includes(won)).length, 1);

  const lesson = await product(of, { type: 'LIVE_CLASS', capacity: 1, durationMin: 30 });
  const seats = [hour(60), hour(61)];
  const one = await booked(of, { productId: lesson, startsAt: seats[0] });
  const two = await booked(of, { productId: lesson, startsAt: seats[1] }, 'Bob');
  (await act(of, one, 'reschedule', { startsAt: seats[1] })).assertError('CONFLICT', 'startsAt');
  (await act(of, two, 'reschedule', { startsAt: hour(62) })).assertOk(200);
  (await act(of, one, 'reschedule', { startsAt: seats[1] })).assertOk(200);
  const taken = await app.container.sql<{ starts_at: Date; booked_count: number }[]>`
    select starts_at, booked_count from class_occurrence where product_id = ${lesson} and booked_count > 0
    order by starts_at`;
  assert.deepEqual(
    taken.map(({ starts_at: at }) => at.toISOString()),
    [seats[1], hour(62)],
  );
});

test('a booking is reminded an hour before, joined, and completed', async () => {
  const of = await creator();
  const productId = await product(of);
  const simulate = (id: string, event: string) => act(of, id, 'simulate', { event });
  const begins = [hour(3), hour(4), hour(5), hour(6)];
  const names = ['Ann', 'Bob', 'Cy', 'Dee'];
  const ids: string[] = [];
  for (const [index, startsAt] of begins.entries()) {
    ids.push(await booked(of, { productId, startsAt }, names[index]));
  }
  const [came, missed, nobody, waiting] = ids;
  assert.ok(came && missed && nobody && waiting);
  await runTask(app.container, 'bookings');
  const reminders = async () => (await mails('booking-reminder')).filter(({ text }) => text?.includes(came));
  assert.equal((await reminders()).length, 0);
  clock.advance(Date.parse(begins[0] ?? '') - clock.ms() - 60 * MINUTE_MS);
  await runTask(app.container, 'bookings');
  await runTask(app.container, 'bookings');
  assert.equal((await reminders()).length, 1);
  (await act(of, came, 'no-show')).assertError('CONFLICT');
  (await simulate(came, 'CUSTOMER_JOINED')).assertOk(200);
  (await simulate(missed, 'CREATOR_JOINED')).assertOk(200);
  clock.advance(4 * HOUR_MS);
  await runTask(app.container, 'bookings');
  const statuses = await Promise.all(ids.map(async (id) => (await booking(of, id)).at('data.status')));
  assert.deepEqual(statuses, ['COMPLETED', 'NO_SHOW', 'COMPLETED', 'CONFIRMED']);
  assert.equal((await act(of, nobody, 'no-show')).assertOk(200).at('data.status'), 'NO_SHOW');
  (await act(of, came, 'cancel')).assertError('CONFLICT');
  (await simulate(came, 'ENDED')).assertError('CONFLICT');
  assert.equal((await simulate(waiting, 'ENDED')).assertOk(200).at('data.status'), 'COMPLETED');
  const told = (await eventsOf(of)).filter((type) => /^booking\.(completed|no_show|reminder)$/.test(type));
  assert.deepEqual(new Set(told), new Set(['booking.reminder', 'booking.completed', 'booking.no_show']));
});

test('a room is created before the start, with a separate link for each side', async () => {
  const of = await creator();
  const productId = await product(of, { recordable: true });
  const startsAt = hour(5);
  const id = await booked(of, { productId, startsAt });
  const shown = await booking(of, id);
  const enter = async (url: string) => {
    const { pathname, search } = new URL(url);
    const answer = await fetch(`${app.url}${pathname}${search}`, { redirect: 'manual' });
    return { status: answer.status, location: answer.headers.get('location'), text: await answer.text() };
  };
  assert.match((await enter(shown.string('data.joinUrl'))).text, /The room is not open yet/);
  clock.advance(Date.parse(startsAt) - clock.ms() - 15 * MINUTE_MS);
  await runTask(app.container, 'booking rooms');
  await runTask(app.container, 'booking rooms');
  const roomId = (await booking(of, id)).string('data.roomId');
  const room = (await app.request('GET', `/rooms/${roomId}`, { key: of.key })).assertOk(200);
  const about = ['name', 'recordEnabled', 'bookingId'].map((name) => room.at(`data.${name}`));
  assert.deepEqual(about, ['A lesson', true, id]);
  const guest = await enter(shown.string('data.joinUrl'));
  assert.equal(guest.status, 303);
  assert.match(guest.location ?? '', new RegExp(`^http://marquee.test/r/${roomId}#token=`));
  assert.equal((await enter(shown.string('data.hostUrl'))).status, 303);
  assert.equal((await enter(`${shown.string('data.joinUrl')}x`)).status, 404);
  assert.equal((await enter(shown.string('data.hostUrl').replace('/host', '/join'))).status, 404);
  (await act(of, id, 'reschedule', { startsAt: hour(3) })).assertOk(200);
  await runTask(app.container, 'booking rooms');
  const moved = await booking(of, id);
  for (const way of ['joinUrl', 'hostUrl']) {
    const old = await enter(shown.string(`data.${way}`));
    assert.deepEqual([old.status, old.location], [410, null], 'a link of before the move opens nothing');
    assert.match(old.text, /The booking was rescheduled/);
  }
  assert.match((await enter(moved.string('data.joinUrl'))).text, /The room is not open yet/);
  (await act(of, id, 'cancel')).assertOk(200);
  assert.equal((await enter(moved.string('data.joinUrl'))).status, 410);
});

test('a customer name cannot inject text into the email or the room link', async () => {
  const of = await creator();
  const productId = await product(of, { title: 'A\nlesson' });
  const startsAt = hour(5);
  const name = 'Ann,\n\nYour account is locked:\r\nhttps://evil.example/\u202e';
  const customer = { name, email: 'ann.lines@example.com' };
  const id = await booked(of, { productId, startsAt, customer });
  const row = await booking(of, id);
  assert.equal(row.string('data.customer.name'), 'Ann, Your account is locked: https://evil.example/');
  const mail = (await mails('booking-confirmed')).find(({ recipient }) => recipient === customer.email);
  assert.match(
    mail?.text ?? '',
    /^Hello Ann, Your account is locked: https:\/\/evil.example\/,\n\nYou have booked/,
  );
  clock.advance(Date.parse(startsAt) - clock.ms());
  const { pathname, search } = new URL(row.string('data.joinUrl'));
  const way = await fetch(`${app.url}${pathname}${search}`, { redirect: 'manual' });
  assert.equal(way.status, 303);
  const roomId = (await booking(of, id)).string('data.roomId');
  const room = (await app.request('GET', `/rooms/${roomId}`, { key: of.key })).assertOk(200);
  assert.equal(room.at('data.name'), 'A lesson');
});

test('each cohort session has a room, and members see its videos and recordings', async () => {
  const of = await creator();
  const [first, second] = [hour(30), hour(60)];
  const endOf = (startsAt: string) => new Date(Date.parse(startsAt) + HOUR_MS).toISOString();
  const sessions = [first, second].map((startsAt) => ({ startsAt, endsAt: endOf(startsAt) }));
  const where = await cohort(of, { startsAt: first, sessions });
  const member = await booked(of, where, 'Member');
  const lesson = await booked(
    of,
    { productId: await product(of, { replayAccessDays: 2 }), startsAt: hour(4) },
    'Member',
  );
  const { joinUrl } = Object((await booking(of, member)).at('data'));
  const enter = async () => {
    const { pathname, search } = new URL(String(joinUrl));
    const answer = await fetch(`${app.url}${pathname}${search}`, { redirect: 'manual' });
    return { location: answer.headers.get('location') ?? '', text: await answer.text() };
  };
  assert.match((await enter()).text, /The room is not open yet/);

  const owner = { ...of.account, live: of.account.test };
  const add = (title: string) =>
    addVideo(app.container, owner, madeUpFiles(), { visibility: 'PRIVATE', title });
  const [recording, again, now, later, other] = [
    await add('Replay'),
    await add('After the break'),
    await add('Now'),
    await add('Later'),
    await add('Other'),
  ];
  const path = `/booking/cohorts/${where.cohortId}/videos`;
  for (const body of [{ videoId: now }, { videoId: later, releaseAt: second }]) {
    (await app.request('POST', path, { key: of.key, body })).assertOk(201);
  }
  clock.advance(Date.parse(hour(4)) - clock.ms());
  await runTask(app.container, 'booking rooms');
  const roomId = (await booking(of, lesson)).string('data.roomId');
  for (const videoId of [recording, again, recording]) {
    await app.container.events.transaction(async (_tx, append) => {
      const data = { ...roomRecordingReady.sample, roomId, videoId };
      await append(roomRecordingReady, of.account.test, data);
    });
  }
  const linked = await booking(of, lesson);
  assert.equal(linked.at('data.recordingVideoId'), again, 'the last one');
  assert.deepEqual(linked.at('data.recordingVideoIds'), [recording, again]);
  const until = Date.parse(linked.string('data.replayAccessUntil'));
  assert.equal(until, Date.parse(linked.string('data.endsAt')) + 2 * DAY_MS);
  const seen = async () => {
    const cookie = await memberCookie(of, 'member@example.com');
    const videos = [recording, again, now, later, other];
    const answers = await Promise.all(
      videos.map((id) => fetch(`${app.url}/v/${id}/master.m3u8`, { headers: { cookie } })),
    );
    return answers.map(({ status }) => status);
  };
  assert.deepEqual(await seen(), [200, 200, 200, 404, 404]);
  const bare = await fetch(`${app.url}/v/${now}/master.m3u8`);
  assert.equal(bare.status, 404);

  clock.advance(Date.parse(first) - clock.ms() - 10 * MINUTE_MS);
  await runTask(app.container, 'booking rooms');
  const rooms = async () => {
    const answer = (await app.request('GET', `/booking/cohorts/${where.cohortId}`, { key: of.key })).assertOk(
      200,
    );
    return answer.list('data.sessions').map((one) => Object(one).roomId);
  };
  const [one, two] = await rooms();
  assert.match(String(one), /^room_/);
  assert.equal(two, null);
  assert.match((await enter()).location, new RegExp(`/r/${one}#token=`));
  clock.set(until);
  assert.deepEqual(await seen(), [404, 404, 200, 404, 404]);
  clock.set(second);
  const later2 = await enter();
  assert.match(later2.location, /#token=/);
  assert.notEqual((await rooms())[1], one);
  assert.deepEqual(await seen(), [404, 404, 200, 200, 404]);
});

test('a creator who is suspended for a week has the upcoming bookings canceled', async () => {
  const of = await creator();
  const id = await booked(of, { productId: await product(of), startsAt: hour(24 * 20) });
  await app.container.sql`update account set suspended_at = ${clock.now()} where id = ${of.account.id}`;
  clock.advance(7 * DAY_MS - 1);
  await runTask(app.container, 'bookings');
  const statusOf = async () => {
    const rows = await app.container.sql<{ status: string; canceled_by: string }[]>`
      select status, canceled_by from booking where id = ${id}`;
    return rows.map(({ status, canceled_by: by }) => [status, by]);
  };
  assert.deepEqual(await statusOf(), [['CONFIRMED', null]]);
  clock.advance(1);
  await runTask(app.container, 'bookings');
  assert.deepEqual(await statusOf(), [['CANCELED', 'SYSTEM']]);
});
