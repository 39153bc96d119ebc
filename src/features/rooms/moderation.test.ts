import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { connectRoom, createRoom, joinRoom, mintToken } from '../../../test/rooms/client.ts';

let app: TestApp;
let key: string;
before(async () => {
  app = await startTestApp();
  ({ key } = await app.createKey());
});
after(() => app.close());

const call = async (method: string, path: string, body?: object) =>
  (await app.request(method, path, body === undefined ? { key } : { key, body })).assertOk(200);

test('a mute persists across reconnects until it is lifted', async () => {
  const id = await createRoom(app, key);
  const host = await joinRoom(app, key, id, { identity: 'host', role: 'HOST' });
  const token = await mintToken(app, key, id, { identity: 'bob' });
  const first = connectRoom(app, id, [token]);
  await first.next('welcome');
  for (const kind of ['AUDIO', 'SCREEN']) {
    host.send({ type: 'moderate', action: 'mute', identity: 'bob', kind });
    await first.next('muted');
  }
  const second = connectRoom(app, id, [token]);
  assert.deepEqual((await second.next('welcome')).muted, ['AUDIO', 'SCREEN']);
  assert.equal(await first.end(), 4411);
  second.send({ type: 'leave' });
  assert.equal(await second.end(), 1000);
  const third = connectRoom(app, id, [token]);
  assert.deepEqual((await third.next('welcome')).muted, ['AUDIO', 'SCREEN']);
  await call('POST', `/rooms/${id}/participants/bob/mute`, { kind: 'AUDIO', muted: false });
  await third.next('muted');
  await third.close();
  const fourth = connectRoom(app, id, [token]);
  assert.deepEqual((await fourth.next('welcome')).muted, ['SCREEN']);
  await Promise.all([host.close(), fourth.close()]);
});

test('messages of a removed host are ignored, though the connection remains open', async () => {
  const id = await createRoom(app, key);
  const ada = await joinRoom(app, key, id, { identity: 'ada' });
  const eve = await joinRoom(app, key, id, { identity: 'eve', role: 'HOST' });
  eve.deafen();
  await call('DELETE', `/rooms/${id}/participants/eve`);
  await ada.next('left', ({ identity }) => identity === 'eve');
  eve.send({ type: 'chat', text: 'still here' });
  eve.send({ type: 'moderate', action: 'end' });
  for (let n = 0; n < 20; n++) {
    ada.send({ type: 'ping' });
    await ada.next('pong');
  }
  assert.equal((await call('GET', `/rooms/${id}`)).at('data.status'), 'ACTIVE');
  assert.deepEqual(
    ada.messages.filter(({ type }) => type === 'chat' || type === 'ended'),
    [],
  );
  eve.cut();
  await ada.close();
});

test('bytes are limited over time, and to few before admission', async () => {
  const id = await createRoom(app, key, { waitingRoom: true });
  const token = await mintToken(app, key, id, { identity: 'bob' });
  const state = { type: 'state', audio: false, video: false, screen: false };
  const waiting = connectRoom(app, id, [token]);
  await waiting.next('waiting');
  waiting.send({ ...state, more: 'x'.repeat(2000) });
  assert.equal((await waiting.next('error')).code, 'CONFLICT');
  waiting.send({ ...state, more: 'x'.repeat(5000) });
  assert.equal(await waiting.end(), 4400);
  const host = await joinRoom(app, key, id, { identity: 'host', role: 'HOST' });
  const large = JSON.stringify({ ...state, more: 'x'.repeat(250_000) });
  for (let n = 0; n < 20; n++) host.raw(large);
  assert.equal(await host.end(), 4429);
});
