import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { runCommand } from '../../../../test/harness/command-line.ts';
import { withLockContention } from '../../../../test/harness/with-lock-contention.ts';
import type { SimulatedSignal } from '../../../media/contract/index.ts';

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
/** Returns the signal of one stream as requested from the node. */
async function made(nodeId: string, id: string): Promise<SimulatedSignal> {
  const signals = await app.container.simulations.port.wanted(nodeId);
  const signal = signals.find(({ streamId }) => streamId === id);
  assert.ok(signal !== undefined, 'it is wanted');
  return signal;
}

test('a live key is rejected, and a stream of the other mode gets 404', async () => {
  (await simulate(await createStream(live), { on: true }, live)).assertError('PERMISSION_DENIED');
  (await simulate(await createStream(live), { on: true })).assertError('NOT_FOUND');
});

test('two simulations run concurrently, each until its end', async () => {
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
  await app.container.simulations.port.ended(await made('node two', third));
  assert.deepEqual(await wanted('node two'), []);
});

test('invalid input gets 400, and a disabled stream 409', async () => {
  const id = await createStream();
  (await simulate(id, {})).assertError('BAD_REQUEST', 'on');
  (await simulate(id, { on: true, seconds: 5 })).assertError('BAD_REQUEST', 'seconds');
  (await app.request('PATCH', `/streams/${id}`, { key, body: { enabled: false } })).assertOk(200);
  (await simulate(id, { on: true })).assertError('CONFLICT', 'enabled');
});

describe('a simulation ends and frees its slot', () => {
  for (const [what, end] of [
    ['with the key', (id: string) => app.request('POST', `/streams/${id}/rotate-key`, { key })],
    [
      'when the stream is disabled',
      async (id: string) => {
        const set = (enabled: boolean) => app.request('PATCH', `/streams/${id}`, { key, body: { enabled } });
        (await set(false)).assertOk(200);
        return set(true);
      },
    ],
    ['when the stream is deleted', (id: string) => app.request('DELETE', `/streams/${id}`, { key })],
  ] as const) {
    test(what, async () => {
      const ids = [await createStream(), await createStream(), await createStream()];
      const [first = '', second = '', third = ''] = ids;
      for (const id of [first, second]) (await simulate(id, { on: true })).assertOk(200);
      await wanted('node one');
      (await end(first)).assertOk(200);
      assert.deepEqual(await wanted('node one'), [second]);
      (await simulate(third, { on: true })).assertOk(200);
      assert.deepEqual((await wanted('node one')).toSorted(), [second, third].toSorted());
      for (const id of [second, third]) (await simulate(id, { on: false })).assertOk(200);
    });
  }

  test('a takedown by the operator ends the simulation', async () => {
    const id = await createStream();
    (await simulate(id, { on: true })).assertOk(200);
    for (const args of [
      ['takedown', '--id', id, '--reason', 'x'],
      ['restore', '--id', id],
    ]) {
      assert.equal((await runCommand(app, ['content', ...args])).code, 0);
    }
    (await app.request('PATCH', `/streams/${id}`, { key, body: { enabled: true } })).assertOk(200);
    assert.deepEqual(await wanted('node one'), []);
  });

  test('a simulation requested after the cut-off continues', async () => {
    const id = await createStream();
    (await simulate(id, { on: true })).assertOk(200);
    const cutOff = await made('node one', id);
    (await app.request('POST', `/streams/${id}/rotate-key`, { key })).assertOk(200);
    (await simulate(id, { on: true })).assertOk(200);
    // The encoder with the old key was disconnected.
    await app.container.simulations.port.ended(cutOff);
    assert.deepEqual(await wanted('node one'), [id]);
    (await simulate(id, { on: false })).assertOk(200);
  });

  for (const [what, wish] of [
    ['for longer', async (id: string) => simulate(id, { on: true, seconds: 90 })],
    [
      'off and on',
      async (id: string) => {
        (await simulate(id, { on: false })).assertOk(200);
        return simulate(id, { on: true, seconds: 90 });
      },
    ],
  ] as const) {
    test(`a simulation requested ${what} while its encoder ended continues with a new encoder`, async () => {
      const id = await createStream();
      (await simulate(id, { on: true, seconds: 60 })).assertOk(200);
      const old = await made('node one', id);
      (await wish(id)).assertOk(200);
      // The node looks before the end of the old encoder is reported.
      const fresh = await made('node one', id);
      await app.container.simulations.port.ended(old);
      assert.deepEqual(await wanted('node one'), [id]);
      await app.container.simulations.port.ended(fresh);
      assert.deepEqual(await wanted('node one'), []);
    });
  }
});

test('no simulation begins on a stream that is being disabled', async () => {
  const id = await createStream();
  const [answer] = await withLockContention(
    app.container.sql,
    (tx) => tx`update stream set enabled = false where id = ${id}`,
    [() => simulate(id, { on: true })],
  );
  answer?.assertError('CONFLICT', 'enabled');
  assert.deepEqual(await wanted('node one'), []);
});

test('the signal of a suspended account ends and returns after the suspension', async () => {
  const made = await app.createKey({ mode: 'test' });
  const id = await createStream(made.key);
  (await simulate(id, { on: true }, made.key)).assertOk(200);
  assert.ok((await wanted('node one')).includes(id));
  await app.container.accounts.suspend(made.account.email);
  assert.ok(!(await wanted('node one')).includes(id));
  await app.container.accounts.unsuspend(made.account.email);
  assert.ok((await wanted('node one')).includes(id));
});
