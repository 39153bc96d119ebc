import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { runTask } from '../../../test/harness/modules.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { connectRoom, createRoom, joinRoom, mintToken, type RoomClient } from '../../../test/rooms/client.ts';
import { writeSdp } from '../../media/protocols/sdp/write.ts';

const NODE = join(import.meta.dirname, '../../../test/harness/node-main.ts');
/** The tests set the client IP of a request in a header. */
const env = { TRUST_PROXY: '1' };
let first: TestApp;
let second: TestApp;
let key: string;
before(async () => {
  first = await startTestApp({ env });
  second = await startTestApp({ env, beside: first });
  ({ key } = await first.createKey());
});
after(async () => {
  await second.close();
  await first.close();
});

const isIn = ({ messages }: RoomClient) => messages.some(({ type }) => type === 'welcome');
const count = async (id: string) =>
  (await first.request('GET', `/rooms/${id}`, { key })).assertOk(200).at('data.participantCount');
const of = (identity: string) => (message: Record<string, unknown>) =>
  Object(message.participant ?? message).identity === identity;

test('people on two nodes share one room: presence, chat, signals and moderation', async () => {
  const id = await createRoom(first, key);
  const ada = await joinRoom(first, key, id, { identity: 'ada', role: 'HOST' });
  const bob = await joinRoom(first, key, id, { identity: 'bob' }, { at: second });
  await ada.next('joined', of('bob'));
  bob.send({ type: 'state', audio: true, video: false, screen: false });
  assert.equal(Object((await ada.next('updated', of('bob'))).participant).audio, true);
  ada.send({ type: 'chat', text: 'over there' });
  assert.equal((await bob.next('chat')).text, 'over there');
  // Longer than the maximum payload of a PostgreSQL notification.
  const sdp = `${writeSdp({ attributes: [], media: [] })}${'a=candidate\r\n'.repeat(1900)}`;
  bob.send({ type: 'signal', data: { to: 'ada', description: { type: 'offer', sdp } } });
  assert.deepEqual((await ada.next('signal')).data, { from: 'bob', description: { type: 'offer', sdp } });
  ada.send({ type: 'moderate', action: 'mute', identity: 'bob', kind: 'AUDIO' });
  assert.equal((await bob.next('muted')).kind, 'AUDIO');
  const begun = performance.now();
  ada.send({ type: 'moderate', action: 'kick', identity: 'bob' });
  assert.equal(await bob.end(), 4403);
  assert.ok(performance.now() - begun < 5000);
  for (const at of [first, second]) {
    const body = { identity: 'bob' };
    (await at.request('POST', `/rooms/${id}/tokens`, { key, body })).assertError('CONFLICT', 'identity');
  }
  const eve = await joinRoom(first, key, id, { identity: 'eve' }, { at: second });
  (await second.request('POST', `/rooms/${id}/end`, { key })).assertOk(200);
  assert.deepEqual([await ada.end(), await eve.end()], [4410, 4410]);
});

test('an identity that connects to another node leaves the first one', async () => {
  const id = await createRoom(first, key);
  const older = await joinRoom(first, key, id, { identity: 'ada' });
  const newer = await joinRoom(first, key, id, { identity: 'ada' }, { at: second });
  assert.equal(await older.end(), 4411);
  const back = connectRoom(first, id, [String(newer.welcome.resumeToken)]);
  await back.next('welcome');
  assert.equal(await newer.end(), 4411, 'the seat went along');
  await back.close();
});

test('20 concurrent joins on two nodes get the available seats, and the room continues', async () => {
  const id = await createRoom(first, key, { maxParticipants: 3 });
  const tokens = await Promise.all(
    Array.from({ length: 20 }, (_, n) => mintToken(first, key, id, { identity: `p${n}`, name: `Zoë ${n}` })),
  );
  const clients = tokens.map((token, n) =>
    connectRoom(n % 2 === 0 ? first : second, id, [token], { from: `10.0.${n % 10}.1` }),
  );
  await waitFor(() => clients.every((client) => isIn(client) || client.closed !== null));
  const seated = clients.filter(isIn);
  assert.equal(seated.length, 3);
  assert.ok(clients.every((client) => isIn(client) || client.closed?.code === 4409));
  assert.equal(await count(id), 3);
  seated[0]?.send({ type: 'chat', text: 'still here' });
  for (const client of seated) await client.next('chat');
  await Promise.all(seated.map((client) => client.close()));
});

test('the seats of a killed node are released', async () => {
  const id = await createRoom(first, key, { departureTimeoutSec: 0 });
  const dataDir = first.container.config.DATA_DIR;
  const child = fork(NODE, [first.databaseUrl, dataDir], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const [port] = await once(child, 'message');
  const ada = await joinRoom(first, key, id, { identity: 'ada' });
  const bob = connectRoom({ port }, id, [await mintToken(first, key, id, { identity: 'bob' })]);
  await bob.next('welcome');
  await ada.next('joined', of('bob'));
  child.kill('SIGKILL');
  await bob.end();
  assert.equal(await count(id), 2, 'nobody knows yet');
  await first.container.sql`update room_node set last_seen_at = last_seen_at - interval '11 seconds'
    where id = (select node_id from room_participant where room_id = ${id} and identity = 'bob')`;
  await waitFor(async () => {
    await runTask(first.container, 'rooms');
    return (await count(id)) === 1;
  });
  assert.equal((await ada.next('left', of('bob'))).reason, 'TIMEOUT');
  await ada.close();
});

test('a stopping node sends its people to another one, where their seats are reserved', async () => {
  const third = await startTestApp({ beside: first });
  const id = await createRoom(first, key);
  const ada = await joinRoom(first, key, id, { identity: 'ada' });
  const bob = await joinRoom(first, key, id, { identity: 'bob' }, { at: third });
  await third.close();
  assert.equal(await bob.end(), 1001);
  const back = connectRoom(second, id, [String(bob.welcome.resumeToken)]);
  await back.next('welcome');
  back.send({ type: 'chat', text: 'back' });
  await ada.next('chat');
  assert.ok(!ada.messages.some(({ type }) => type === 'left'));
  await Promise.all([ada.close(), back.close()]);
});
