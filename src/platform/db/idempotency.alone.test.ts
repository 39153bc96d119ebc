import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { insertAccount } from '../../../test/harness/factories.ts';
import type { TestResponse } from '../../../test/harness/response.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import {
  countThings,
  createThings,
  type PostOptions,
  post,
  startTestNode,
  type TestNode,
} from '../../../test/idempotency/node.ts';

const NODE_MAIN = join(import.meta.dirname, '../../../test/idempotency/node-main.ts');
const HANDLERS = 4;
let database: TestDatabase;
let first: TestNode;
let second: TestNode;
let key: string;

before(async () => {
  database = await createTestDatabase({ pool: 3 });
  await createThings(database.db);
  const env = { DATABASE_POOL: String(HANDLERS + 2) };
  first = await startTestNode({ databaseUrl: database.url, env });
  second = await startTestNode({ databaseUrl: database.url, env });
  const { email } = await insertAccount(database.db);
  key = (await first.container.apiKeys.create({ email, scope: 'FULL_ACCESS' })).key;
});
after(async () => {
  await Promise.all([first.close(), second.close()]);
  await database.close();
});

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

const send = (
  node: { url: string },
  body: { name: string; ms?: number; next?: string },
  options: Partial<PostOptions> = {},
) => post(node.url, body, { key, idempotencyKey: body.name, ...options });

const replayed = ({ headers }: TestResponse) => headers['x-svc-idempotent-replay'] === 'true';
const runsOf = (name: string) => [...first.runs, ...second.runs].filter((run) => run === name).length;
const started = (node: TestNode, name: string) => waitFor(() => node.runs.includes(name));

async function timed<T>(work: Promise<T>): Promise<{ result: T; ms: number }> {
  const begun = performance.now();
  const result = await work;
  return { result, ms: performance.now() - begun };
}

/** Transactions that hold the lock of a key: a handler that runs, whatever it does. */
async function locks(): Promise<number> {
  const [row] = await database.sql`
    select count(*)::int as count from pg_locks l join pg_database d on d.oid = l.database
    where locktype = 'advisory' and d.datname = current_database()`;
  return Number(row?.count);
}

for (const where of ['on the same node', 'on another node']) {
  const other = () => (where === 'on the same node' ? first : second);

  describe(`a duplicate ${where}`, () => {
    test('waits for the first one and replays its response', async () => {
      const name = randomUUID();
      const running = send(first, { name, ms: 800 });
      await started(first, name);
      const duplicate = await timed(send(other(), { name, ms: 800 }));
      duplicate.result.assertOk(201);
      assert.ok(replayed(duplicate.result));
      assert.equal(duplicate.result.text, (await running).assertOk(201).text);
      assert.ok(duplicate.ms < 2500, `waited ${duplicate.ms} ms`);
      assert.equal(runsOf(name), 1);
    });

    test('a duplicate gets IDEMPOTENCY_IN_FLIGHT after 3 s, neither replayed nor stored', async () => {
      const name = randomUUID();
      const running = send(first, { name, ms: 3800 });
      await started(first, name);
      const { result, ms } = await timed(send(other(), { name, ms: 3800 }));
      result.assertError('IDEMPOTENCY_IN_FLIGHT', 'Idempotency-Key');
      assert.equal(result.headers['x-svc-idempotency'], 'not_stored');
      assert.ok(!replayed(result));
      assert.ok(ms > 2900 && ms < 5000, `waited ${ms} ms`);
      (await running).assertOk(201);
      assert.ok(replayed((await send(other(), { name, ms: 3800 })).assertOk(201)));
      assert.equal(runsOf(name), 1);
    });

    test('a duplicate with another body waits too and is rejected once the first has its response', async () => {
      const name = randomUUID();
      const running = send(first, { name, ms: 300 });
      await started(first, name);
      (await send(other(), { name, ms: 301 })).assertError('IDEMPOTENCY_KEY_REUSE', 'Idempotency-Key');
      (await running).assertOk(201);
    });

    test('runs itself when the first one crashes', async () => {
      const name = randomUUID();
      const running = send(first, { name, ms: 300, next: 'crash' });
      await started(first, name);
      const duplicate = await send(other(), { name, ms: 300, next: 'readBack' });
      duplicate.assertOk(201);
      assert.ok(!replayed(duplicate));
      (await running).assertError('INTERNAL_ERROR');
      assert.equal(await countThings(database.db, name), 1);
    });
  });
}

test('50 concurrent duplicates on two nodes run once and replay the rest', async () => {
  const name = randomUUID();
  const responses = await Promise.all(
    Array.from({ length: 50 }, (_, index) => send(index % 2 === 0 ? first : second, { name, ms: 100 })),
  );
  for (const response of responses) response.assertOk(201);
  assert.equal(responses.filter(replayed).length, 49);
  assert.equal(new Set(responses.map(({ text }) => text)).size, 1);
  assert.equal(runsOf(name), 1);
});

test('duplicates beyond 100 are rejected immediately', async () => {
  const name = randomUUID();
  const running = send(first, { name, ms: 1500 });
  await started(first, name);
  const responses = await Promise.all(
    Array.from({ length: 110 }, () => timed(send(first, { name, ms: 1500 }))),
  );
  const refused = responses.filter(({ result }) => result.status === 409);
  assert.equal(refused.length, 10);
  for (const { result, ms } of refused) {
    result.assertError('IDEMPOTENCY_IN_FLIGHT', 'Idempotency-Key');
    assert.ok(ms < 1400, `waited ${ms} ms`);
  }
  (await running).assertOk(201);
});

describe('other requests during slow handlers', () => {
  /** Returns the time of the slowest single request while `busy` is pending. */
  async function slowest(node: TestNode, busy: Promise<unknown>): Promise<number> {
    let done = false;
    void busy.finally(() => {
      done = true;
    });
    let slowestMs = 0;
    while (!done) {
      const { result, ms } = await timed(send(node, { name: randomUUID() }));
      result.assertOk(201);
      slowestMs = Math.max(slowestMs, ms);
    }
    return slowestMs;
  }

  for (const where of ['the same node', 'another node']) {
    test(`50 duplicates on ${where} behind a slow handler do not starve other requests`, async () => {
      const target = where === 'the same node' ? first : second;
      const name = randomUUID();
      const running = send(first, { name, ms: 1500 });
      await started(first, name);
      const duplicates = Promise.all(Array.from({ length: 50 }, () => send(target, { name, ms: 1500 })));
      const ms = await slowest(target, duplicates);
      assert.ok(ms < 1000, `a request took ${ms} ms`);
      for (const response of await duplicates) assert.ok(replayed(response.assertOk(201)));
      (await running).assertOk(201);
    });
  }

  test('slow handlers with keys of their own leave connections of the pool to others', async () => {
    const names = Array.from({ length: HANDLERS + 1 }, () => randomUUID());
    const busy = Promise.all(names.map((name) => send(first, { name, ms: 1500 })));
    await waitFor(async () => (await locks()) >= HANDLERS);
    const { ms } = await timed(first.container.sql`select 1`);
    assert.ok(ms < 700, `a query waited ${ms} ms for a connection`);
    for (const response of await busy) response.assertOk(201);
  });
});

test('the handler of a client that went away runs on, and its response is there for the next try', async () => {
  const name = randomUUID();
  const body = { name, ms: 500 };
  const abort = new AbortController();
  const aborted = assert.rejects(send(first, body, { signal: abort.signal }));
  await started(first, name);
  abort.abort();
  await aborted;
  const again = (await send(first, body)).assertOk(201);
  assert.ok(replayed(again));
  assert.equal(runsOf(name), 1);
});

test('kill -9 of a node in the middle of a request frees the key, and a duplicate waiting on another node runs', async () => {
  const child = fork(NODE_MAIN, [database.url], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: 'inherit',
  });
  children.push(child);
  const [url] = await once(child, 'message');
  const name = randomUUID();
  const before = await locks();
  const lost = assert.rejects(send({ url: String(url) }, { name, ms: 60_000 }));
  await waitFor(async () => (await locks()) > before);
  const waiting = send(first, { name, ms: 1 });
  child.kill('SIGKILL');
  await lost;
  const response = (await waiting).assertOk(201);
  assert.ok(!replayed(response));
  assert.equal(await countThings(database.db, name), 1);
});

test('a node whose session the database ends answers 503, stores nothing and continues', async () => {
  const name = randomUUID();
  const running = send(first, { name, ms: 500 });
  await started(first, name);
  await waitFor(async () => (await locks()) === 1);
  await database.sql`
    select pg_terminate_backend(l.pid) from pg_locks l join pg_database d on d.oid = l.database
    where locktype = 'advisory' and d.datname = current_database()`;
  const response = (await running).assertError('SERVICE_UNAVAILABLE');
  assert.equal(response.headers['x-svc-idempotency'], 'not_stored');
  assert.equal(await countThings(database.db, name), 0);
  // The driver may hand the news of the lost session to one statement more.
  await waitFor(async () => (await send(first, { name, ms: 1 })).status === 201);
  // No connection of the pool was spoiled.
  const results = await Promise.all(Array.from({ length: 20 }, () => send(first, { name: randomUUID() })));
  for (const result of results) result.assertOk(201);
});
