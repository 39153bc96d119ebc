import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { connectRoom, createRoom, mintToken, type RoomClient } from '../../../test/rooms/client.ts';

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

test('500 concurrent people get the available seats, and the room continues', async () => {
  const id = await createRoom(first, key, { maxParticipants: 4 });
  const tokens = await Promise.all(
    Array.from({ length: 500 }, (_, n) => mintToken(first, key, id, { identity: `p${n}`, name: `Zoë ${n}` })),
  );
  const clients = tokens.map((token, n) =>
    connectRoom(n % 2 === 0 ? first : second, id, [token], { from: `10.0.${n % 10}.1` }),
  );
  await waitFor(() => clients.every((client) => isIn(client) || client.closed !== null), {
    timeoutMs: 30_000,
  });
  const seated = clients.filter(isIn);
  assert.equal(seated.length, 4);
  assert.ok(clients.every((client) => isIn(client) || client.closed?.code === 4409));
  assert.equal(await count(id), 4);
  seated[0]?.send({ type: 'chat', text: 'still here' });
  for (const client of seated) await client.next('chat');
  await Promise.all(seated.map((client) => client.close()));
});

test('an IP address gets 100 connections per node, a waiting room 100 people, and both release their slots', async () => {
  const id = await createRoom(first, key, { waitingRoom: true });
  const mint = (identity: string) => mintToken(first, key, id, { identity });
  const tokens = await Promise.all(Array.from({ length: 100 }, (_, n) => mint(`p${n}`)));
  const from = '10.9.9.9';
  const clients = tokens.map((token) => connectRoom(first, id, [token], { from }));
  for (const client of clients) await client.next('waiting');
  const late = await mint('late');
  assert.equal(await connectRoom(first, id, [late], { from }).end(), 4429);
  assert.equal(await connectRoom(first, id, [late], { from: '10.9.9.8' }).end(), 4409);
  await clients[0]?.close();
  const again = await waitFor(async () => {
    const client = connectRoom(first, id, [late], { from });
    return Promise.race([client.next('waiting').then(() => client), client.end().then(() => null)]);
  });
  await Promise.all([again, ...clients.slice(1)].map((client) => client.close()));
});
