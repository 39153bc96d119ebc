import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { Redis } from 'ioredis';
import { behavesAsCounter, daily, hits, minute, oneTo } from '../../test/counts/counter-contract.ts';
import { TestClock } from '../../test/harness/clock.ts';
import { redisProgram, startTestRedis, type TestRedis } from '../../test/harness/redis.ts';
import { waitFor } from '../../test/harness/wait-for.ts';
import { counterFactory } from './counters.ts';
import { createLeases } from './leases.ts';
import { createLogger } from './logger.ts';
import { openRedis, type RedisStore } from './redis.ts';
import { redisCounters, redisLeases } from './redis-counts.ts';

const log = createLogger('silent');
const skip = redisProgram === null && 'neither valkey-server nor redis-server is installed';
const clock = new TestClock('2026-03-01T23:59:50Z');
const nowMs = () => clock.ms();
const redisFactory = (store: RedisStore) => counterFactory(redisCounters(store, nowMs), nowMs);

async function timed<T>(work: Promise<T>): Promise<{ result: T; ms: number }> {
  const begun = performance.now();
  const result = await work;
  return { result, ms: performance.now() - begun };
}

describe('counters in memory', () => behavesAsCounter(() => counterFactory(null, nowMs), clock));

describe('counters in Valkey or Redis', { skip }, () => {
  let redis: TestRedis;
  let raw: Redis;
  const stores: RedisStore[] = [];
  const open = async () => {
    const store = await openRedis({ url: redis.url, log });
    stores.push(store);
    return store;
  };
  before(async () => {
    redis = await startTestRedis();
    raw = new Redis(redis.url);
    raw.on('error', () => {});
  });
  afterEach(async () => {
    redis.thaw();
    for (const store of stores.splice(0)) await store.close();
    await waitFor(() => raw.flushall());
  });
  after(async () => {
    raw.disconnect();
    await redis.close();
  });

  describe('while it answers', () => {
    let shared: RedisStore;
    before(async () => {
      shared = await openRedis({ url: redis.url, log });
    });
    after(() => shared.close());
    behavesAsCounter(() => redisFactory(shared), clock);

    test('nodes count together', async () => {
      const one = redisFactory(await open())(minute);
      const two = redisFactory(await open())(minute);
      const counts = await Promise.all([hits(one, 'both', 250), hits(two, 'both', 250)]);
      assert.deepEqual(
        counts.flat().sort((a, b) => a - b),
        oneTo(500),
      );
    });

    test('every key ends by itself, that of a day soon after it', async () => {
      clock.set('2026-03-01T23:59:50Z');
      const factory = redisFactory(await open());
      await factory(minute).hit('a');
      await factory(daily).hit('a');
      const names = await raw.keys('marquee:*');
      assert.equal(names.length, 2);
      for (const name of names) {
        const seconds = await raw.ttl(name);
        assert.ok(seconds > 0 && seconds <= (name.includes(':day:') ? 11 : 60), `${name}: ${seconds} s`);
      }
    });
  });

  for (const how of ['frozen', 'killed'] as const) {
    const stop = () => (how === 'frozen' ? redis.freeze() : redis.kill());
    const resume = () => (how === 'frozen' ? redis.thaw() : redis.start());

    describe(`while it is ${how}`, () => {
      test('an open counter answers -1 within 100 ms, then immediately, and recovers by itself', async () => {
        const factory = redisFactory(await open());
        const counter = factory(minute);
        assert.equal((await counter.hit('key')).count, 1);
        await stop();
        try {
          const crowd = await timed(hits(counter, 'key', 50));
          assert.deepEqual(crowd.result, oneTo(50).fill(-1));
          assert.ok(crowd.ms < 150, `${crowd.ms} ms`);
          const next = await timed(Promise.resolve(counter.hit('key')));
          assert.deepEqual(next.result, { count: -1, resetInMs: 60_000 });
          assert.ok(next.ms < 20, `${next.ms} ms`);
          clock.set('2026-03-01T23:59:50Z');
          assert.deepEqual(await factory(daily).hit('key'), { count: -1, resetInMs: 10_000 });
        } finally {
          await resume();
        }
        await waitFor(async () => (await counter.peek('key')).count >= 0);
        assert.ok((await counter.hit('key')).count > 0);
      });

      test('nothing that was not counted in time is counted late', async () => {
        const counter = redisFactory(await open())(minute);
        await counter.hit('late');
        await stop();
        // Hits in flight when the store stops may still arrive; this one detects the outage.
        await counter.hit('found out');
        await hits(counter, 'late', 200);
        await resume();
        await waitFor(async () => (await counter.peek('late')).count >= 0);
        assert.equal((await counter.hit('late')).count, how === 'frozen' ? 2 : 1);
      });

      test('an insured counter continues in this process', async () => {
        const counter = redisFactory(await open())({ ...minute, withoutStore: 'insured' });
        await stop();
        await counter.hit('found out');
        const counts = await hits(counter, 'login', 20);
        await resume();
        assert.deepEqual(counts, oneTo(20));
        await waitFor(async () => (await counter.peek('login')).count === 0);
      });

      test('leases are counted in this process, and entered again when it is back', async () => {
        const store = await open();
        const leases = createLeases(redisLeases(store, 50));
        const kept = await leases.acquire('tail', 2);
        await stop();
        assert.ok(kept !== null && (await leases.acquire('tail', 2)) !== null);
        assert.equal(await leases.acquire('tail', 2), null);
        await resume();
        await waitFor(() => store.attempt((client) => client.ping()));
        await waitFor(async () => (await raw.zcard('marquee:lease:tail')) === 2);
        await leases.close();
        assert.equal(await raw.zcard('marquee:lease:tail'), 0);
      });
    });
  }

  test('a store that is not there at the start is found later', async () => {
    await redis.kill();
    const counter = redisFactory(await open())(minute);
    assert.equal((await counter.hit('early')).count, -1);
    await redis.start();
    await waitFor(async () => (await counter.hit('early')).count >= 1);
  });

  test('leases: nodes share the limit, and what a dead node held is free after its time', async () => {
    const one = createLeases(redisLeases(await open()));
    const two = createLeases(redisLeases(await open()));
    const taken = await Promise.all(
      Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? one : two).acquire('key', 25)),
    );
    const held = taken.filter((lease) => lease !== null);
    assert.equal(held.length, 25);
    await held[0]?.release();
    await held[0]?.release();
    assert.equal(await raw.zcard('marquee:lease:key'), 24);
    assert.ok((await two.acquire('key', 25)) !== null);
    assert.equal(await one.acquire('key', 25), null);
    // Expire the leases as if they had not been renewed.
    for (const member of await raw.zrange('marquee:lease:key', '0', '9')) {
      await raw.zadd('marquee:lease:key', 1, member);
    }
    assert.ok((await two.acquire('key', 25)) !== null || (await one.acquire('key', 25)) !== null);
    assert.equal(await raw.zcard('marquee:lease:key'), 16);
    await Promise.all([one.close(), two.close()]);
  });

  test('a lease that is renewed outlives its 45 s; the key of a dead node does not stay', async () => {
    const leases = createLeases(redisLeases(await open(), 20));
    await leases.acquire('long', 1);
    assert.ok((await raw.ttl('marquee:lease:long')) <= 45);
    await raw.expire('marquee:lease:long', 5);
    await waitFor(async () => (await raw.ttl('marquee:lease:long')) > 40);
    await leases.close();
    assert.equal(await raw.exists('marquee:lease:long'), 0);
  });
});

test('leases in memory: no more than the limit, each free again once it is released', async () => {
  const leases = createLeases(null);
  const taken = await Promise.all(Array.from({ length: 30 }, () => leases.acquire('key', 25)));
  const held = taken.filter((lease) => lease !== null);
  assert.equal(held.length, 25);
  assert.equal(await leases.acquire('key', 25), null);
  assert.ok((await leases.acquire('other', 25)) !== null);
  await held[3]?.release();
  await held[3]?.release();
  assert.ok((await leases.acquire('key', 25)) !== null);
  assert.equal(await leases.acquire('key', 25), null);
  await leases.close();
  assert.ok((await leases.acquire('key', 1)) !== null);
  await leases.close();
});
