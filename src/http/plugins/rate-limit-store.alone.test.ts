import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { insertAccount } from '../../../test/harness/factories.ts';
import { redisProgram, startTestRedis, type TestRedis } from '../../../test/harness/redis.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { startTestNode, type TestNode } from '../../../test/idempotency/node.ts';

const skip = redisProgram === null && 'neither valkey-server nor redis-server is installed';

describe('the limits of two nodes on one store', { skip }, () => {
  let database: TestDatabase;
  let redis: TestRedis;
  let nodes: TestNode[] = [];
  let email: string;

  before(async () => {
    database = await createTestDatabase({ pool: 2 });
    redis = await startTestRedis();
    const env = { REDIS_URL: redis.url };
    nodes = [
      await startTestNode({ databaseUrl: database.url, env }),
      await startTestNode({ databaseUrl: database.url, env }),
    ];
    email = (await insertAccount(database.db)).email;
  });
  after(async () => {
    redis.thaw();
    await Promise.all(nodes.map((node) => node.close()));
    await redis.close();
    await database.close();
  });

  const newKey = async (limits: { rateLimitPerMinute?: number; dailyQuota?: number }) => {
    const made = await nodes[0]?.container.apiKeys.create({ email, scope: 'STANDARD', ...limits });
    return made?.key ?? '';
  };
  /** A path that does not exist: counted like any other, and nothing else happens. */
  const get = (key: string, node = 0) =>
    fetch(`${nodes[node]?.url}/api/v1/nothing`, { headers: { authorization: `Bearer ${key}` } });
  const header = (response: Response, name: string) => response.headers.get(`x-ratelimit-${name}`);

  test('exactly 100 of 500 concurrent requests to both nodes pass a limit of 100', async () => {
    const key = await newKey({ rateLimitPerMinute: 100 });
    await get(key, 0);
    await get(key, 1);
    const responses = await Promise.all(Array.from({ length: 498 }, (_, index) => get(key, index % 2)));
    const passed = responses.filter(({ status }) => status === 404).length;
    assert.equal(passed, 98);
    assert.ok(responses.every(({ status }) => status === 404 || status === 429));
  });

  test('a daily quota is shared, shown with each answer, and not used by what the minute refuses', async () => {
    const key = await newKey({ rateLimitPerMinute: 2, dailyQuota: 10 });
    const left: (string | null)[] = [];
    for (const node of [0, 1, 0, 1]) {
      const response = await get(key, node);
      left.push(header(response, 'daily-remaining'));
      assert.equal(header(response, 'daily-limit'), '10');
      assert.equal(Number(header(response, 'daily-reset')) % 86_400, 0);
    }
    assert.deepEqual(left, ['9', '8', '8', '8']);
  });

  test('a quota that is used up: 429 DAILY_QUOTA_EXCEEDED until 00:00 UTC', async () => {
    const key = await newKey({ dailyQuota: 1 });
    assert.equal((await get(key, 0)).status, 404);
    const refused = await get(key, 1);
    assert.equal(refused.status, 429);
    assert.match(await refused.text(), /"code":"DAILY_QUOTA_EXCEEDED"/);
    assert.equal(header(refused, 'daily-remaining'), '0');
    assert.ok(Number(refused.headers.get('retry-after')) <= 86_400);
  });

  for (const how of ['frozen', 'killed'] as const) {
    test(`requests pass with -1 while the store is ${how}, and are counted again automatically`, async () => {
      const key = await newKey({ rateLimitPerMinute: 1, dailyQuota: 1 });
      assert.equal(header(await get(key), 'remaining'), '0');
      if (how === 'frozen') redis.freeze();
      else await redis.kill();
      try {
        for (let count = 0; count < 3; count++) {
          const begun = performance.now();
          const response = await get(key);
          const ms = performance.now() - begun;
          assert.equal(response.status, 404);
          assert.equal(header(response, 'limit'), '1');
          assert.equal(header(response, 'remaining'), '-1');
          assert.equal(header(response, 'daily-remaining'), '-1');
          assert.ok(Number(header(response, 'reset')) > 0);
          assert.ok(ms < 250, `a request took ${ms} ms`);
        }
      } finally {
        if (how === 'frozen') redis.thaw();
        else await redis.start();
      }
      await waitFor(async () => (await get(key)).status === 429);
    });
  }
});
