import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestApp } from '../../../../test/harness/app.ts';
import { redisProgram, startTestRedis } from '../../../../test/harness/redis.ts';
import { openTail, type TailClient } from '../../../../test/harness/tail.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';

const NODE = join(import.meta.dirname, '../../../../test/harness/node-main.ts');
/** Maximum tails of one key on all nodes (docs/concepts/conventions.md#rate-limits). */
const MAX_TAILS = 25;
const skip = redisProgram === null && 'neither valkey-server nor redis-server is installed';

test('the tail slots of a killed node are released within a minute', { skip }, async (t) => {
  const redis = await startTestRedis();
  t.after(() => redis.close());
  const app = await startTestApp({ env: { REDIS_URL: redis.url } });
  t.after(() => app.close());
  const { key } = await app.createKey();
  const created = await app.request('POST', '/streams', { key, body: { title: 'Places' } });
  const path = `/api/v1/streams/${created.assertOk(201).at('data.id')}/status/tail`;
  const child = fork(NODE, [app.databaseUrl, app.container.config.DATA_DIR, redis.url], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: 'inherit',
  });
  t.after(() => void child.kill('SIGKILL'));
  const [port] = await once(child, 'message');
  const elsewhere = `http://127.0.0.1:${port}`;
  const open: TailClient[] = [];
  t.after(() => Promise.all(open.map((tail) => tail.close())));
  const tail = async (url: string) => {
    const one = await openTail(url + path, { key });
    open.push(one);
    return one.response.status;
  };

  for (let place = 0; place < MAX_TAILS; place += 1) {
    assert.equal(await tail(place % 2 === 0 ? app.url : elsewhere), 200);
  }
  assert.equal(await tail(app.url), 429);
  assert.equal(await tail(elsewhere), 429);
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(await tail(app.url), 429, 'the slots are held until their leases expire');
  const opens = async () => (await tail(app.url)) === 200;
  // Its twelve slots become free one after another, as their leases expire, and no more than those.
  for (let place = 0; place < Math.floor(MAX_TAILS / 2); place += 1)
    await waitFor(opens, { timeoutMs: 60_000, intervalMs: 1000, message: `slot ${place}` });
  assert.equal(await tail(app.url), 429);
});
