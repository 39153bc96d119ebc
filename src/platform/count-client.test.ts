import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { after, describe, test } from 'node:test';
import { type CountingChild, startCountingChild } from '../../test/counts/child.ts';
import { behavesAsCounter, daily, hits, minute, oneTo } from '../../test/counts/counter-contract.ts';
import { TestClock } from '../../test/harness/clock.ts';
import { waitFor } from '../../test/harness/wait-for.ts';
import { createCountClient } from './count-client.ts';
import { attachCountServer, type ChildChannel, type CountServer, createCountServer } from './count-server.ts';
import { counterFactory } from './counters.ts';
import { createLeases } from './leases.ts';
import { createLogger } from './logger.ts';

const clock = new TestClock('2026-03-01T23:59:50Z');
const nowMs = () => clock.ms();
const log = createLogger('silent');
/** Time limit of tests that withhold responses. */
const SHORT_MS = 300;

/** Channel between a child and the first process in one process, which can withhold or lose messages. */
function createChannel(server: CountServer, answerMs?: number) {
  const parent = new EventEmitter();
  const child = new EventEmitter();
  /** Bytes of each message to the first process. */
  const sentBytes: number[] = [];
  let withheld: (() => void)[] | null = null;
  const deliver = (to: EventEmitter, message: object) => {
    const text = JSON.stringify(message);
    if (to === parent) sentBytes.push(text.length);
    const emit = () => to.emit('message', JSON.parse(text));
    if (withheld === null) setImmediate(emit);
    else withheld.push(emit);
    return true;
  };
  attachCountServer(server, Object.assign(parent, { send: (message: object) => deliver(child, message) }));
  return {
    client: createCountClient(Object.assign(child, { send: (message: object) => deliver(parent, message) }), {
      log,
      ...(answerMs === undefined ? {} : { answerMs }),
    }),
    sentBytes,
    freeze() {
      withheld = [];
    },
    thaw() {
      const late = withheld ?? [];
      withheld = null;
      for (const emit of late) emit();
    },
    thawWithoutMessages() {
      withheld = null;
    },
  };
}

const newServer = () => createCountServer({ nowMs });

describe('counters in the first process', () =>
  behavesAsCounter(() => counterFactory(createChannel(newServer()).client, nowMs), clock));

describe('processes', () => {
  const children: CountingChild[] = [];
  const start = async (server: CountServer, count: number) => {
    const attach = (child: ChildChannel) => attachCountServer(server, child);
    const started = await Promise.all(Array.from({ length: count }, () => startCountingChild(attach)));
    children.push(...started);
    return started;
  };
  after(() => Promise.all(children.map((child) => child.kill())));

  test('get distinct numbers for 1,000 concurrent hits', async () => {
    const four = await start(newServer(), 4);
    const counts = await Promise.all(four.map((child) => child.hit('crowd', 250)));
    assert.deepEqual(
      counts.flat().sort((a, b) => a - b),
      oneTo(1000),
    );
  });

  test('share 25 leases, and a killed process releases its own immediately', async () => {
    const four = await start(newServer(), 4);
    const acquire = (times: number) => Promise.all(four.map((child) => child.acquire('tail', times, 25)));
    const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
    const held = await acquire(10);
    assert.equal(sum(held), 25);
    assert.deepEqual(await acquire(1), held, 'the 26th lease is denied in every process');

    const holder = held.findIndex((count) => count > 0);
    await four[holder]?.kill();
    const [freed = 0] = held.splice(holder, 1);
    four.splice(holder, 1);
    const taken = await acquire(25);
    assert.equal(sum(taken), 25, `the ${freed} leases of the killed process are free, and no more`);
  });

  test('release single leases, and all when they stop', async () => {
    const [one, two] = await start(newServer(), 2);
    assert.ok(one !== undefined && two !== undefined);
    assert.equal(await one.acquire('tail', 3, 3), 3);
    assert.equal(await two.acquire('tail', 1, 3), 0);
    assert.equal(await one.release(1), 2);
    assert.equal(await two.acquire('tail', 2, 3), 1);
    await one.close();
    assert.equal(await two.acquire('tail', 5, 3), 3);
  });
});

test('the operations of one turn of the event loop are one message, of bounded size', async () => {
  const { client, sentBytes } = createChannel(newServer());
  const counter = counterFactory(client, nowMs)(minute);
  const leases = createLeases(client);
  await Promise.all([hits(counter, 'key', 50), counter.peek('key'), leases.acquire('tail', 2)]);
  assert.equal(sentBytes.length, 1);
  const longKey = 'k'.repeat(10_000);
  assert.deepEqual(await hits(counter, longKey, 1200), oneTo(1200));
  const bytes = sentBytes.slice(1);
  assert.equal(bytes.length, 3);
  for (const size of bytes) assert.ok(size < 50_000, `${size} bytes`);
});

describe('while the first process does not respond', () => {
  test('an open counter answers -1, first after the time limit, then immediately, and recovers', async () => {
    const { client, freeze, thaw } = createChannel(newServer(), SHORT_MS);
    const factory = counterFactory(client, nowMs);
    const counter = factory(minute);
    assert.equal((await counter.hit('key')).count, 1);
    freeze();
    assert.deepEqual(await hits(counter, 'key', 50), oneTo(50).fill(-1));
    const immediate = await Promise.race([
      counter.hit('key'),
      new Promise((resolve) => setImmediate(resolve)),
    ]);
    assert.deepEqual(immediate, { count: -1, resetInMs: 60_000 });
    clock.set('2026-03-01T23:59:50Z');
    assert.deepEqual(await factory(daily).hit('key'), { count: -1, resetInMs: 10_000 });
    thaw();
    await waitFor(async () => (await counter.peek('key')).count >= 0);
    assert.equal((await counter.hit('key')).count, 52, 'the 50 hits that were sent are counted');
  });

  test('a client whose messages were lost recovers', async () => {
    const { client, freeze, thawWithoutMessages } = createChannel(newServer(), SHORT_MS);
    const counter = counterFactory(client, nowMs)(minute);
    freeze();
    assert.equal((await counter.hit('key')).count, -1);
    thawWithoutMessages();
    await waitFor(async () => (await counter.peek('key')).count === 0);
  });

  test('an insured counter continues in this process', async () => {
    const { client, freeze, thaw } = createChannel(newServer(), SHORT_MS);
    const counter = counterFactory(client, nowMs)({ ...minute, withoutStore: 'insured' });
    freeze();
    await counter.hit('first late response');
    assert.deepEqual(await hits(counter, 'login', 20), oneTo(20));
    thaw();
    await waitFor(async () => (await counter.peek('login')).count === 0);
  });

  test('leases count in this process, and in the first one when it responds again', async () => {
    const server = newServer();
    const { client, freeze, thaw } = createChannel(server, SHORT_MS);
    const leases = createLeases(client);
    const others = createLeases(createChannel(server).client);
    const [before] = await Promise.all([leases.acquire('tail', 5), others.acquire('tail', 5)]);
    freeze();
    const during = [await leases.acquire('tail', 5), await leases.acquire('tail', 5)];
    await before?.release();
    await during[0]?.release();
    await leases.acquire('tail', 5);
    assert.equal(await leases.acquire('tail', 2), null);
    thaw();
    // Two of this process and one of the other: two of five places are free.
    const free = async () =>
      (await Promise.all(oneTo(5).map(() => others.acquire('tail', 5)))).filter((one) => one !== null);
    const counter = counterFactory(client, nowMs)(minute);
    await waitFor(async () => (await counter.peek('key')).count >= 0);
    assert.equal((await free()).length, 2);
  });
});
