import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../test/harness/wait-for.ts';
import { createSnapshots } from './snapshots.ts';

const AWAY = new Error('the database is away');
const FRESH_MS = 500;
const idOf = (number: number) => `str_${String(number).padStart(26, '0')}`;
const ID = idOf(1);

/** Creates a source of one value, and the reader of its snapshots. */
function setUp({ maxAgeMs = 60_000, maxEntries = 3 } = {}) {
  const source: { value: string | undefined; failure: Error | null; reads: number } = {
    value: 'live',
    failure: null,
    reads: 0,
  };
  let gate: Promise<unknown> = Promise.resolve();
  let tell = (_id: string) => {};
  const snapshots = createSnapshots<string>(
    {
      async find() {
        source.reads += 1;
        const { value, failure } = source;
        await gate;
        if (failure !== null) throw failure;
        return value;
      },
      onChanged(listener) {
        tell = listener;
      },
    },
    'str',
    {
      maxEntries,
      lastKnown: {
        isUnavailable: (error) => error === AWAY,
        answer: async (snapshot, ageMs) => (ageMs > maxAgeMs ? null : `last ${snapshot}`),
      },
    },
  );
  return {
    source,
    get: (id = ID) => snapshots.get(id),
    changed: (id = ID) => tell(id),
    /** Makes reads wait until the returned function is called. */
    freeze() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
  };
}
const expire = () => sleep(FRESH_MS + 10);

test('while the source is unavailable, the last snapshot is the answer until it is too old', async () => {
  const { source, get } = setUp({ maxAgeMs: 1000 });
  assert.equal(await get(), 'live');
  source.failure = AWAY;
  await expire();
  assert.equal(await get(), 'last live');
  await assert.rejects(get(idOf(2)), AWAY);
  await waitFor(async () => (await get().catch((error: unknown) => error)) === AWAY);
  source.failure = null;
  assert.equal(await get(), 'live');
});

test('a read that is late is answered from the last snapshot, and its result is used when it comes', async () => {
  const { source, get, freeze } = setUp();
  assert.equal(await get(), 'live');
  await expire();
  const thaw = freeze();
  source.value = 'ended';
  assert.equal(await get(), 'last live');
  await expire();
  assert.equal(await get(), 'last live');
  assert.equal(source.reads, 2, 'one read at a time');
  thaw();
  await waitFor(async () => (await get()) === 'ended');
});

test('an item that has changed is not answered from the snapshot before the change', async () => {
  const { source, get, changed, freeze } = setUp();
  assert.equal(await get(), 'live');
  const thaw = freeze();
  source.value = 'ended';
  changed();
  const answer = get();
  await sleep(300);
  thaw();
  assert.equal(await answer, 'ended');
  source.failure = AWAY;
  changed();
  await assert.rejects(get(), AWAY);
});

test('a read that began before a change does not become the last snapshot', async () => {
  const { source, get, changed, freeze } = setUp();
  const thaw = freeze();
  const before = get();
  source.failure = AWAY;
  changed();
  const after = get();
  thaw();
  assert.equal(await before, 'live');
  await assert.rejects(after, AWAY);
  await assert.rejects(get(), AWAY);
});

test('an item with viewers is read again when it changes, so that an outage after it finds a snapshot', async () => {
  const { source, get, changed } = setUp();
  await get();
  source.value = 'renamed';
  changed();
  await waitFor(() => source.reads === 2);
  source.failure = AWAY;
  await expire();
  assert.equal(await get(), 'last renamed');
});

test('requests for missing items evict no snapshot, and the snapshots in use stay', async () => {
  const { source, get } = setUp({ maxEntries: 3 });
  await get();
  source.value = undefined;
  for (let number = 2; number < 20; number += 1) assert.equal(await get(idOf(number)), undefined);
  source.failure = AWAY;
  await expire();
  assert.equal(await get(), 'last live');
});

test('an error of another kind is thrown', async () => {
  const { source, get } = setUp();
  await get();
  await expire();
  source.failure = new Error('a defect');
  await assert.rejects(get(), /a defect/);
});
