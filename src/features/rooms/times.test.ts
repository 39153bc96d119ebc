import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { TestClock } from '../../../test/harness/clock.ts';
import { runTask } from '../../../test/harness/modules.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { connectRoom, createRoom, joinRoom, mintToken } from '../../../test/rooms/client.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let key: string;
before(async () => {
  app = await startTestApp({ clock });
  ({ key } = await app.createKey({ account: await app.createAccount({ plan: 'FREE' }) }));
});
after(() => app.close());

const room = async (id: string) =>
  Object((await app.request('GET', `/rooms/${id}`, { key })).assertOk(200).at('data'));
const later = async (sec: number) => {
  clock.advance(sec * 1000);
  // The node has sent a heartbeat in between.
  await app.container.sql`update room_node set last_seen_at = ${clock.now()}`;
  await runTask(app.container, 'rooms');
};
const seats = (id: string, number: number) =>
  waitFor(async () => (await room(id)).participantCount === number, { message: `${number} in the room` });

test('a room lasts as long as its own limit and the plan allow', async () => {
  const [own, plan] = [await createRoom(app, key, { maxDurationSec: 600 }), await createRoom(app, key)];
  const [ada, bob] = [
    await joinRoom(app, key, own, { identity: 'ada' }),
    await joinRoom(app, key, plan, { identity: 'bob' }),
  ];
  await later(599);
  assert.equal((await room(own)).status, 'ACTIVE');
  await later(1);
  assert.equal((await ada.next('ended')).reason, 'MAX_DURATION');
  await later(2999);
  assert.equal((await room(plan)).status, 'ACTIVE');
  await later(1);
  assert.equal((await bob.next('ended')).reason, 'MAX_DURATION');
  assert.equal((await room(plan)).endReason, 'MAX_DURATION');
  const [event] = (await app.request('GET', '/me/events?type=room.ended&limit=1', { key }))
    .list('data')
    .map(Object);
  assert.equal(event.data.durationSec, 3600);
});

test('the deletion event carries the duration of the room, regardless of who ended it', async () => {
  const deleted = async (id: string) => {
    (await app.request('DELETE', `/rooms/${id}`, { key })).assertOk(200);
    const rows = (await app.request('GET', '/me/events?type=room.*&limit=100', { key }))
      .list('data')
      .map(Object);
    const of = (type: string) => rows.find((row) => row.type === type && row.data.roomId === id)?.data;
    const { sequence: _, ...ended } = of('room.ended');
    const { sequence: __, ...gone } = of('room.deleted');
    return { ended, gone };
  };
  const on = await createRoom(app, key);
  const ada = await joinRoom(app, key, on, { identity: 'ada' });
  await later(90);
  const { ended, gone } = await deleted(on);
  assert.deepEqual([gone.durationSec, gone.reason], [90, 'DELETED']);
  assert.deepEqual(gone, ended);
  await ada.end();

  const over = await createRoom(app, key);
  const bob = await joinRoom(app, key, over, { identity: 'bob' });
  await later(60);
  (await app.request('POST', `/rooms/${over}/end`, { key })).assertOk(200);
  await bob.end();
  await later(3600);
  const after = await deleted(over);
  assert.deepEqual([after.gone.durationSec, after.gone.reason], [60, 'CALL']);
  assert.deepEqual(after.gone, after.ended);

  const idle = await createRoom(app, key, { departureTimeoutSec: 30 });
  const eve = await joinRoom(app, key, idle, { identity: 'eve' });
  await later(40);
  eve.send({ type: 'leave' });
  await seats(idle, 0);
  await later(30);
  assert.equal((await room(idle)).status, 'CREATED');
  await later(500);
  assert.equal((await deleted(idle)).gone.durationSec, 40, 'what came after it is not counted');

  const unused = await createRoom(app, key);
  const nobody = await deleted(unused);
  assert.deepEqual([nobody.gone.startedAt, nobody.gone.durationSec], [null, null]);
});

test('autoEndWhenAloneSec ends a room after all others have left, but not before they arrive', async () => {
  const id = await createRoom(app, key, { autoEndWhenAloneSec: 60 });
  const ada = await joinRoom(app, key, id, { identity: 'ada' });
  await later(120);
  assert.equal((await room(id)).status, 'ACTIVE');
  const bob = await joinRoom(app, key, id, { identity: 'bob' });
  bob.send({ type: 'leave' });
  await seats(id, 1);
  await later(59);
  assert.equal((await room(id)).status, 'ACTIVE');
  await later(1);
  assert.equal((await ada.next('ended')).reason, 'ALONE');
});

test('an empty room waits for the departure timeout, and a new arrival starts it again', async () => {
  const id = await createRoom(app, key, { departureTimeoutSec: 30 });
  const ada = await joinRoom(app, key, id, { identity: 'ada' });
  const { startedAt } = await room(id);
  ada.send({ type: 'leave' });
  await seats(id, 0);
  await later(29);
  assert.equal((await room(id)).status, 'ACTIVE');
  await later(1);
  assert.equal((await room(id)).status, 'CREATED');
  const again = await joinRoom(app, key, id, { identity: 'ada' });
  assert.notEqual((await room(id)).startedAt, startedAt);
  again.cut();
  await waitFor(
    async () =>
      (
        await app.container.sql`
    select 1 from room_participant where room_id = ${id} and disconnected_since is not null`
      ).length === 1,
  );
  await later(29);
  assert.equal((await room(id)).participantCount, 1, 'the seat is kept');
  await later(1);
  const { status, participantCount } = await room(id);
  assert.deepEqual([status, participantCount], ['CREATED', 0], 'and the time of the room went with it');
});

test('a person who waits for an empty room is removed', async () => {
  const id = await createRoom(app, key, { waitingRoom: true, emptyTimeoutSec: 120 });
  const bob = connectRoom(app, id, [await mintToken(app, key, id, { identity: 'bob' })]);
  await bob.next('waiting');
  await later(119);
  (await app.request('GET', `/rooms/${id}/participants?state=JOINING`, { key })).string('data.0.identity');
  await later(1);
  assert.equal(await bob.end(), 4403);
  assert.match(bob.closed?.reason ?? '', /No host was available/);
});

test('a token is valid until it expires, and its expiry does not affect people in the room', async () => {
  const id = await createRoom(app, key);
  const token = await mintToken(app, key, id, { identity: 'ada', ttlSec: 60 });
  const ada = connectRoom(app, id, [token]);
  const { resumeToken } = await ada.next('welcome');
  clock.advance(60_000);
  const late = connectRoom(app, id, [token]);
  assert.equal(await late.end(), 4401);
  assert.match(late.closed?.reason ?? '', /expired/);
  const back = connectRoom(app, id, [token, String(resumeToken)]);
  await back.next('welcome');
  assert.equal(await ada.end(), 4411);
  await back.close();
});

test('a room that expires ends for its participants', async () => {
  const id = await createRoom(app, key, { expiresAt: new Date(clock.ms() + 60_000).toISOString() });
  const ada = await joinRoom(app, key, id, { identity: 'ada' });
  await later(60);
  assert.equal((await ada.next('ended')).reason, 'EXPIRED');
});

test('attendance is counted once across midnight, however often it runs', async () => {
  clock.set('2026-11-30T23:30:00.000Z');
  const { key: own, account } = await app.createKey();
  const minutes = async () => {
    const rows = await app.container.db
      .selectFrom('usage_event')
      .select((eb) => [eb.fn.sum<string>('amount').as('ms'), eb.fn.max('amount').as('most')])
      .select(sql<string>`to_char(created_at at time zone 'UTC', 'YYYY-MM-DD')`.as('day'))
      .where('workspace_id', '=', account.live)
      .where('kind', '=', 'ROOM')
      .groupBy('day')
      .orderBy('day')
      .execute();
    for (const { most } of rows) assert.ok(Number(most) <= 60_000);
    return rows.map(({ ms }) => Number(ms) / 60_000);
  };
  const count = () => runTask(app.container, 'room attendance');
  const [id, other] = [await createRoom(app, own), await createRoom(app, own)];
  const [ada, bob] = [
    await joinRoom(app, own, id, { identity: 'ada' }),
    await joinRoom(app, own, other, { identity: 'bob' }),
  ];
  clock.advance(20 * 60_000);
  await Promise.all([count(), count(), count()]);
  assert.deepEqual(await minutes(), [40]);
  clock.advance(30_000);
  bob.send({ type: 'leave' });
  await bob.end();
  await count();
  assert.deepEqual(await minutes(), [41]);
  clock.advance(15 * 60_000);
  await count();
  assert.deepEqual(await minutes(), [50.5, 5.5]);
  (await app.request('DELETE', `/rooms/${id}`, { key: own })).assertOk(200);
  assert.equal(await ada.end(), 4410);
  await count();
  assert.deepEqual(await minutes(), [50.5, 5.5], 'and the room is gone');
});
