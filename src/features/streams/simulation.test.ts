import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { TestClock } from '../../../test/harness/clock.ts';

const clock = new TestClock('2026-11-20T09:00:00Z');
let app: TestApp;
let key: string;
let live: string;

before(async () => {
  app = await startTestApp({ clock });
  const account = await app.createAccount();
  ({ key } = await app.createKey({ account, mode: 'test' }));
  ({ key: live } = await app.createKey({ account }));
});
after(() => app.close());

const createStream = async (by = key) =>
  (await app.request('POST', '/streams', { key: by, body: { title: 'x' } })).assertOk(201).string('data.id');
const simulate = (id: string, body: unknown, by = key) =>
  app.request('POST', `/streams/${id}/simulate-signal`, { key: by, body });
const wanted = async (nodeId: string) =>
  (await app.container.simulations.port.wanted(nodeId)).map(({ streamId }) => streamId);

test('a live key is refused, and a stream of the other mode is not there', async () => {
  (await simulate(await createStream(live), { on: true }, live)).assertError('PERMISSION_DENIED');
  (await simulate(await createStream(live), { on: true })).assertError('NOT_FOUND');
});

test('two at once, each until its time is up', async () => {
  const ids = [await createStream(), await createStream(), await createStream()];
  const [first = '', second = '', third = ''] = ids;
  (await simulate(first, { on: true, seconds: 60 })).assertOk(200);
  (await simulate(second, { on: true, seconds: 120 })).assertOk(200);
  (await simulate(second, { on: true, seconds: 120 })).assertOk(200);
  (await simulate(third, { on: true })).assertError('QUOTA_EXCEEDED');
  assert.deepEqual((await wanted('node one')).toSorted(), [first, second].toSorted());
  assert.deepEqual(await wanted('node two'), [], 'one node makes a signal');
  clock.advance(61_000);
  assert.deepEqual(await wanted('node two'), [second], 'of a node that is gone');
  (await simulate(third, { on: true })).assertOk(200);
  (await simulate(second, { on: false })).assertOk(200);
  (await simulate(second, { on: false })).assertOk(200);
  assert.deepEqual(await wanted('node two'), [third]);
  await app.container.simulations.port.ended(third);
  assert.deepEqual(await wanted('node two'), []);
});

test('400 for what is no wish, 409 for a disabled stream', async () => {
  const id = await createStream();
  (await simulate(id, {})).assertError('BAD_REQUEST', 'on');
  (await simulate(id, { on: true, seconds: 5 })).assertError('BAD_REQUEST', 'seconds');
  (await app.request('PATCH', `/streams/${id}`, { key, body: { enabled: false } })).assertOk(200);
  (await simulate(id, { on: true })).assertError('CONFLICT');
});

test('the signal of a suspended account ends, and comes back when that is lifted', async () => {
  const made = await app.createKey({ mode: 'test' });
  const id = await createStream(made.key);
  (await simulate(id, { on: true }, made.key)).assertOk(200);
  assert.ok((await wanted('node one')).includes(id));
  await app.container.accounts.suspend(made.account.email);
  assert.ok(!(await wanted('node one')).includes(id));
  await app.container.accounts.unsuspend(made.account.email);
  assert.ok((await wanted('node one')).includes(id));
});
