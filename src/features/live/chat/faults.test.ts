import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { redisProgram, startTestRedis } from '../../../../test/harness/redis.ts';
import { openTail } from '../../../../test/harness/tail.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { createChat } from '../../../../test/streams/chat.ts';

let app: TestApp;
let other: TestApp;
let key: string;

before(async () => {
  app = await startTestApp();
  other = await startTestApp({ beside: app });
  ({ key } = await app.createKey());
});
after(async () => {
  await other.close();
  await app.close();
});

test('interrupted bus hints lose no message of an open tail', async () => {
  const chat = await createChat(app, key);
  const tails = await Promise.all([chat.tail(), chat.tail({ on: other })]);
  for (const tail of tails) await tail.waitFor('ready');
  const said: string[] = [];
  for (let round = 0; round < 3; round++) {
    const ended = await app.container.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query ilike 'listen%'`;
    assert.ok(round > 0 || ended.length === 2, 'each node listens');
    for (let n = 0; n < 3; n++) {
      const text = `${round}.${n}`;
      await chat.say(text);
      said.push(text);
    }
  }
  for (const tail of tails) {
    await tail.waitFor('message', said.length);
    assert.deepEqual(
      tail.data('message').map(({ text }) => text),
      said,
    );
    assert.deepEqual(tail.data('resync'), []);
    await tail.close();
  }
});

test('a tail reports entries that were pruned before it could read them', async () => {
  const chat = await createChat(app, key);
  const tail = await chat.tail();
  await tail.waitFor('ready');
  await chat.say('one');
  await tail.waitFor('message');
  // Simulates a database outage that lasted longer than the log retention.
  await app.container.sql.begin(async (sql) => {
    await sql`
      update stream_log_head set seq = 9 where stream_id = ${chat.id} and tail = 'CHAT'`;
    await sql`
      insert into stream_log (stream_id, tail, seq, at, event, body)
        values (${chat.id}, 'CHAT', 9, now(), 'message', '{"text":"nine"}')`;
  });
  await tail.waitFor('message', 2);
  assert.deepEqual(tail.data('resync'), [{ reason: 'EXPIRED', droppedAtLeast: 7 }]);
  assert.equal(tail.messages.at(-2)?.event, 'resync', 'before what comes after the gap');
  await tail.close();
});

test('the tails of a key are counted across nodes', { skip: redisProgram === null }, async () => {
  const redis = await startTestRedis();
  const env = { REDIS_URL: redis.url };
  const nodes = [await startTestApp({ env, beside: app }), await startTestApp({ env, beside: app })];
  const chat = await createChat(app, key);
  const open = (n: number) =>
    openTail(`${nodes[n % 2]?.url}/api/v1/streams/${chat.id}/${n % 3 === 0 ? 'status' : 'chat'}`, { key });
  const tails = await Promise.all(Array.from({ length: 25 }, (_, n) => open(n)));
  for (const { response } of tails) assert.equal(response.status, 200);
  for (const n of [0, 1]) {
    const refused = await open(n);
    assert.equal(refused.response.status, 429);
    assert.match(String(refused.response.headers.get('content-type')), /^application\/json/);
    await refused.close();
  }
  await tails.pop()?.close();
  const again = await waitFor(async () => {
    const tail = await open(1);
    if (tail.response.status === 200) return tail;
    await tail.close();
    return null;
  });
  await Promise.all([...tails, again].map((tail) => tail.close()));
  for (const node of nodes) await node.close();
  await redis.close();
});
