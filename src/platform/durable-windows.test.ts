import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { newAddress } from '../../test/auth/fixture.ts';
import { startTestApp, type TestApp } from '../../test/harness/app.ts';
import { TestClock } from '../../test/harness/clock.ts';
import { runTask } from '../../test/harness/modules.ts';
import { redisProgram, startTestRedis } from '../../test/harness/redis.ts';
import type { TestResponse } from '../../test/harness/response.ts';
import { waitFor } from '../../test/harness/wait-for.ts';
import { createChat } from '../../test/streams/chat.ts';
import { DAY_MS, QUARTER_MS } from '../kernel/durations.ts';
import { counterKey } from './counters.ts';
import { purgeWindows } from './db/counter-windows.ts';
import { createDurableWindows } from './durable-windows.ts';
import { createFixedWindowCounter } from './fixed-window-counter.ts';
import { createLogger } from './logger.ts';

const NODE = join(import.meta.dirname, '../../test/harness/node-main.ts');

const clock = new TestClock('2026-11-20T12:00:00Z');
/** Owns the database; the nodes under test are other apps on it. */
let base: TestApp;

before(async () => {
  base = await startTestApp({ clock });
});
after(() => base.close());

const startNode = (env: Record<string, string> = {}) =>
  startTestApp({ beside: base, clock, env: { TRUST_PROXY: 'true', REGISTRATION: 'open', ...env } });
const flush = (node: TestApp) => node.container.durableWindows?.flush();
const storedHits = async (name: string) => {
  const rows = await base.container.sql<{ hits: number }[]>`
    select coalesce(sum(hits), 0)::bigint as hits from counter_window where name = ${name}`;
  return rows[0]?.hits ?? 0;
};

const newQuotaKey = async (dailyQuota: number) => (await base.createKey({ dailyQuota })).key;
const get = (node: TestApp, key: string) => node.request('GET', '/streams', { key });
const remaining = (response: TestResponse) => Number(response.headers['x-ratelimit-daily-remaining']);

/** Runs `work` on a node of its own, which stops gracefully. */
async function withNode(work: (node: TestApp) => Promise<void>): Promise<void> {
  const node = await startNode();
  await work(node).finally(() => node.close());
}

describe('a graceful restart', () => {
  test('preserves the daily quota of a key until 00:00 UTC', async () => {
    const key = await newQuotaKey(3);
    await withNode(async (node) => {
      for (const left of [2, 1]) assert.equal(remaining((await get(node, key)).assertOk(200)), left);
    });
    await withNode(async (node) => {
      assert.equal(remaining((await get(node, key)).assertOk(200)), 0);
      (await get(node, key)).assertError('DAILY_QUOTA_EXCEEDED');
    });
    await withNode(async (node) => {
      (await get(node, key)).assertError('DAILY_QUOTA_EXCEEDED');
      clock.advance(DAY_MS);
      assert.equal(remaining((await get(node, key)).assertOk(200)), 2);
    });
  });

  test('preserves the daily chat limit of a key', async () => {
    const { key, id } = await base.createKey();
    const chat = await createChat(base, key);
    const post = (node: TestApp) =>
      node.request('POST', `/streams/${chat.id}/chat`, { key, body: { text: 'x' } });
    await withNode(async (node) => {
      const day = node.container.caps('day');
      for (let n = 0; n < 999; n++) await day.hit(counterKey(`chat-day:key:${id}:${chat.id}`));
    });
    await withNode(async (node) => {
      (await post(node)).assertOk(201);
      (await post(node)).assertError('RATE_LIMITED');
    });
  });

  test('preserves the sign-in and registration limits of an address for 15 minutes', async () => {
    const { key } = await base.createKey();
    const headers = { 'x-forwarded-for': newAddress() };
    const post = async (node: TestApp, path: string, body: object) =>
      (await node.request('POST', path, { key, headers, body })).status;
    const signIn = (node: TestApp, n: number) =>
      post(node, '/auth/login', { email: `stranger${n}@example.com`, password: 'a wrong password' });
    const register = (node: TestApp) => post(node, '/auth/register', { email: 'x' });
    await withNode(async (node) => {
      for (let n = 0; n < 6; n++) assert.equal(await signIn(node, n), 401);
      for (let n = 0; n < 5; n++) assert.equal(await register(node), 400);
    });
    await withNode(async (node) => {
      for (let n = 6; n < 10; n++) assert.equal(await signIn(node, n), 401);
      assert.equal(await signIn(node, 10), 429);
      assert.equal(await register(node), 429);
      clock.advance(QUARTER_MS);
      assert.equal(await signIn(node, 11), 401);
      assert.equal(await register(node), 400);
    });
  });

  test('preserves the failed sign-ins of an account', async () => {
    const { key, account } = await base.createKey();
    const signIn = async (node: TestApp) => {
      const body = { email: account.email, password: 'a wrong password' };
      const headers = { 'x-forwarded-for': newAddress() };
      return (await node.request('POST', '/auth/login', { key, headers, body })).status;
    };
    await withNode(async (node) => {
      for (let n = 0; n < 10; n++) assert.equal(await signIn(node), 401);
    });
    await withNode(async (node) => {
      assert.equal(await signIn(node), 401, 'one attempt in 30 seconds passes');
      assert.equal(await signIn(node), 429);
    });
  });

  test('preserves hourly limits and resets the limits of a minute', async () => {
    const { key } = await base.createKey({ rateLimitPerMinute: 1 });
    await withNode(async (node) => {
      await node.container.caps(3600).hit('hour');
      await node.container.caps(60).hit('minute');
      (await get(node, key)).assertOk(200);
      (await get(node, key)).assertError('RATE_LIMITED');
    });
    await withNode(async (node) => {
      assert.equal((await node.container.caps(3600).peek('hour')).count, 1);
      assert.equal((await node.container.caps(60).peek('minute')).count, 0);
      (await get(node, key)).assertOk(200);
    });
    assert.equal(await storedHits('cap60'), 0);
    assert.equal(await storedHits('minute'), 0);
  });
});

test('a node that was killed loses only hits that were not stored yet', async (t) => {
  const key = await newQuotaKey(100);
  const child = fork(NODE, [base.databaseUrl, base.container.config.DATA_DIR, '', String(clock.ms())], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const [port] = await once(child, 'message');
  const hit = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/streams`, {
      headers: { authorization: `Bearer ${key}` },
    });
    await response.text();
    return Number(response.headers.get('x-ratelimit-daily-remaining'));
  };
  t.after(() => child.kill('SIGKILL'));
  const before = await storedHits('day');
  for (let n = 0; n < 5; n++) await hit();
  const isStored = async () => (await storedHits('day')) === before + 5;
  await waitFor(isStored, { timeoutMs: 15_000, message: 'the node stores its counts every 10 seconds' });
  for (let n = 0; n < 3; n++) await hit();
  child.kill('SIGKILL');
  await once(child, 'exit');
  await withNode(async (node) => {
    const left = remaining((await get(node, key)).assertOk(200));
    assert.ok(left <= 94 && left >= 91, `${left} of 100 are left after 5 stored hits, 3 others and this one`);
  });
});

test('a window that was stored by a clock far ahead ends with the next one', async () => {
  const hit = (node: TestApp) => node.container.caps(900).hit('clock');
  clock.advance(1000 * DAY_MS);
  await withNode(async (node) => assert.equal((await hit(node)).count, 1));
  clock.advance(-1000 * DAY_MS);
  await withNode(async (node) => {
    assert.deepEqual(await hit(node), { count: 1, resetInMs: QUARTER_MS });
    await flush(node);
    assert.deepEqual(await hit(node), { count: 3, resetInMs: QUARTER_MS });
  });
  clock.advance(QUARTER_MS);
  await withNode(async (node) => assert.equal((await hit(node)).count, 1));
});

test('two processes on one database count together', async () => {
  const key = await newQuotaKey(6);
  const before = await storedHits('day');
  const [one, two] = [await startNode(), await startNode()];
  try {
    for (const left of [5, 4, 3]) assert.equal(remaining(await get(one, key)), left);
    for (const left of [5, 4]) assert.equal(remaining(await get(two, key)), left);
    await flush(one);
    await flush(two);
    assert.equal(remaining((await get(two, key)).assertOk(200)), 0);
    (await get(two, key)).assertError('DAILY_QUOTA_EXCEEDED');
    // It has not written since, so it has not read either.
    assert.equal(remaining((await get(one, key)).assertOk(200)), 2);
    await flush(two);
    await flush(one);
    (await get(one, key)).assertError('DAILY_QUOTA_EXCEEDED');
  } finally {
    await two.close();
    await one.close();
  }
  assert.equal(await storedHits('day'), before + 9, 'each hit is stored once');
});

describe('a database that cannot be written to', () => {
  const renamed = async (from: string, to: string) => {
    await base.container.sql.unsafe(`alter table ${from} rename to ${to}`);
  };

  test('fails no request and loses no hit', async () => {
    const key = await newQuotaKey(10);
    await withNode(async (node) => {
      await get(node, key);
      await renamed('counter_window', 'counter_window_away');
      try {
        await flush(node);
        assert.equal(remaining((await get(node, key)).assertOk(200)), 8);
      } finally {
        await renamed('counter_window_away', 'counter_window');
      }
    });
    await withNode(async (node) => assert.equal(remaining(await get(node, key)), 7));
  });

  test('blocks no request while it is slow and loses no hit of that time', async () => {
    const key = await newQuotaKey(10);
    await withNode(async (node) => {
      await get(node, key);
      const locked = Promise.withResolvers<void>();
      const unlock = Promise.withResolvers<void>();
      const lock = base.container.sql.begin(async (tx) => {
        await tx`lock table counter_window in access exclusive mode`;
        locked.resolve();
        await unlock.promise;
      });
      await locked.promise;
      const flushed = flush(node);
      await waitFor(async () => {
        const rows = await node.container.sql`
          select 1 from pg_locks where relation = 'counter_window'::regclass and not granted`;
        return rows.length > 0;
      });
      assert.equal(remaining((await get(node, key)).assertOk(200)), 8);
      unlock.resolve();
      await lock;
      await flushed;
      assert.equal(remaining(await get(node, key)), 7);
    });
    await withNode(async (node) => assert.equal(remaining(await get(node, key)), 6));
  });
});

describe('stored windows', () => {
  const log = createLogger('silent');
  const nowMs = () => clock.ms();

  test('contain no address, email or key in clear text', async () => {
    const { key, id } = await base.createKey({ dailyQuota: 5 });
    await withNode(async (node) => {
      await get(node, key);
      await node.container.caps(3600).hit('somebody@example.com');
    });
    const rows = await base.container.sql<{ key: string }[]>`select key from counter_window`;
    for (const row of rows) assert.match(row.key, /^[\w-]{22}$/);
    const plain = ['somebody@example.com', id].map(counterKey);
    assert.deepEqual(
      rows.filter((row) => plain.includes(row.key)),
      [],
    );
  });

  test('stored windows disappear within a minute after they end', async () => {
    await withNode(async (node) => {
      await node.container.caps(3600).hit('over');
    });
    assert.ok((await storedHits('cap3600')) > 0);
    clock.advance(DAY_MS);
    await runTask(base.container, 'counter windows');
    for (const name of ['cap3600', 'cap900', 'day']) assert.equal(await storedHits(name), 0, name);
  });

  test('have a bound, in the database as in memory, however many keys a stranger tries', async () => {
    const { sql, secrets } = base.container;
    const durable = createDurableWindows({ sql, secrets, log, nowMs });
    const journal = durable.journal('crowd');
    const counter = createFixedWindowCounter(() => DAY_MS - (nowMs() % DAY_MS), {
      maxKeys: 1500,
      nowMs,
      journal,
    });
    for (let n = 0; n < 10_000; n++) await counter.hit(`key ${n}`);
    await durable.flush();
    assert.equal(await storedHits('crowd'), 1500);
    await purgeWindows(sql, nowMs(), 1000);
    assert.equal(await storedHits('crowd'), 1000);
  });
});

test('Redis leaves nothing to store in the database', { skip: redisProgram === null }, async () => {
  const redis = await startTestRedis();
  const key = await newQuotaKey(5);
  const before = await storedHits('day');
  const node = await startNode({ REDIS_URL: redis.url });
  try {
    await get(node, key);
    await redis.kill();
    await get(node, key);
    await node.container.caps(3600).hit('with redis');
  } finally {
    await node.close();
    await redis.close();
  }
  assert.equal(await storedHits('day'), before);
  assert.equal(await storedHits('cap3600'), 0);
});
