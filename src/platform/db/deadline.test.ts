import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql as text } from 'kysely';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { type OwnPostgres, startOwnPostgres } from '../../../test/harness/own-postgres.ts';
import type { TestResponse } from '../../../test/harness/response.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { inBackground, MAINTAINING, SERVING } from './deadline.ts';
import { DatabaseDeadlineError } from './failures.ts';
import { isTransientError, openDatabase, sqlState } from './index.ts';
import { migrate } from './migrate.ts';

/** Short deadline: on a busy machine any request may exceed it, so requests that must succeed are retried. */
const DEADLINE_MS = 400;
let server: OwnPostgres;
let app: TestApp;
let key: string;
/** Connection of an operator who inspects the database. */
let looking: ReturnType<typeof openDatabase>;

before(async () => {
  server = await startOwnPostgres();
  const env = { DATABASE_DEADLINE_MS: String(DEADLINE_MS), DATABASE_POOL: '4' };
  app = await startTestApp({ databaseUrl: server.url, env });
  ({ key } = await app.createKey());
  looking = openDatabase({ url: server.url, pool: 2, name: 'looking' });
});
after(async () => {
  await looking.close();
  await app.close();
  await server.close();
});

const create = (title: string, headers: Record<string, string> = {}) =>
  app.request('POST', '/streams', { key, body: { title }, headers });

const succeeds = (ask: () => Promise<TestResponse>): Promise<TestResponse> =>
  waitFor(async () => {
    const answer = await ask();
    if (answer.status < 400) return answer;
    assertUnavailable(answer);
    return null;
  });
const made = async (title: string) => (await succeeds(() => create(title))).string('data.id');

function assertUnavailable(answer: TestResponse): void {
  answer.assertError('SERVICE_UNAVAILABLE');
  assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/);
  assert.doesNotMatch(answer.text, /CONNECTION|postgres|deadline/i);
}

/** One of each kind: reads, a batched read, a transaction, one that all of a request shares, a look-up of a key. */
async function askEverything(): Promise<TestResponse[]> {
  const id = 'str_00000000000000000000000000';
  return Promise.all([
    app.request('GET', '/streams', { key }),
    app.request('GET', `/streams/${id}`, { key }),
    create('Alone'),
    create('Once', { 'idempotency-key': `once-${Date.now()}-1234` }),
    app.request('GET', '/streams', { key: `pk_${'0'.repeat(40)}` }),
    app.request('GET', '/health'),
    app.request('GET', '/health/ready'),
  ]);
}

const isBack = () => succeeds(() => app.request('GET', '/streams', { key }));

/** Connections of the app that are not at rest. */
const busy = async () =>
  (
    await looking.sql`
    select from pg_stat_activity where application_name = 'marquee test' and state <> 'idle'`
  ).length;

test('C23.13: every pool has bounds for statements and locks, and migrations have their own', async () => {
  const boundsOf = async (of: ReturnType<typeof openDatabase>['sql']) => {
    const [row] = await of`select current_setting('statement_timeout') as statement,
      current_setting('lock_timeout') as lock`;
    return [row?.statement, row?.lock];
  };
  assert.deepEqual(await boundsOf(app.container.sql), ['10s', '4s']);
  const { sql, close } = openDatabase({ url: server.url, pool: 1, name: 'own', bounds: MAINTAINING });
  assert.deepEqual(await boundsOf(sql), ['6h', '10min']);
  await sql`create database unmigrated`;
  await close();
  const url = new URL(server.url);
  url.pathname = '/unmigrated';
  const single = openDatabase({ url: url.href, pool: 1, name: 'single' });
  assert.ok((await migrate(single.sql)).includes('0001_platform.sql'));
  assert.deepEqual(await boundsOf(single.sql), ['10s', '4s']);
  await single.close();
  assert.deepEqual(SERVING, { statementMs: 10_000, lockMs: 4000 });
});

test('C23.13: a frozen database is 503 with Retry-After for every request, and is used again when it answers', async () => {
  await isBack();
  await server.freeze();
  try {
    for (let round = 0; round < 2; round++)
      for (const answer of await askEverything()) assertUnavailable(answer);
  } finally {
    await server.resume();
  }
  await isBack();
  await made('After');
  await waitFor(async () => (await busy()) === 0, { message: 'no session is left in a transaction' });
});

test('C23.13: a database that refuses connections is 503, never 500, and is used again when it is back', async () => {
  await looking.close();
  await server.stop();
  for (let round = 0; round < 2; round++)
    for (const answer of await askEverything()) assertUnavailable(answer);
  await server.start();
  looking = openDatabase({ url: server.url, pool: 2, name: 'looking' });
  await isBack();
  await made('After');
});

test('C23.13: a request that waits for a lock is 503, and its statement ends on the server', async () => {
  const id = await made('Locked');
  const rename = () => app.request('PATCH', `/streams/${id}`, { key, body: { title: 'Renamed' } });
  const free = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holding = looking.sql.begin(async (tx) => {
    await tx`select from stream where id = ${id} for update`;
    locked.resolve();
    await free.promise;
  });
  await locked.promise;
  for (const answer of await Promise.all([rename(), rename(), rename(), rename(), rename()]))
    assertUnavailable(answer);
  await waitFor(async () => (await busy()) === 0, { message: 'no statement waits for the lock' });
  // Other requests are served during the lock.
  await succeeds(() => app.request('GET', `/streams/${id}`, { key }));
  free.resolve();
  await holding;
  await succeeds(rename);
});

test('C23.13: work in the background takes as long as the server lets it', async () => {
  const { db } = app.container;
  const slow = () => text`select pg_sleep(${(2 * DEADLINE_MS) / 1000})`.execute(db);
  await assert.rejects(slow(), DatabaseDeadlineError);
  await inBackground(slow);
  await inBackground(() => db.transaction().execute((tx) => text`select pg_sleep(0.6)`.execute(tx)));
  await waitFor(async () => (await busy()) === 0);
});

test('C23.13: a transaction whose statement is late gives its connection back', async () => {
  const { db } = app.container;
  // One more than the pool has.
  for (let i = 0; i < 5; i++) {
    const late = db.transaction().execute(async (tx) => {
      await text`insert into migration (name) values (${`late ${i}`})`.execute(tx);
      await text`select pg_sleep(30)`.execute(tx);
    });
    await assert.rejects(late, DatabaseDeadlineError);
  }
  const { rows } = await text`select from migration where name like 'late%'`.execute(db);
  assert.equal(rows.length, 0);
  await waitFor(async () => (await busy()) === 0, { message: 'all are rolled back' });
});

test('C23.13: a deadlock and a lost session are failures that pass', async () => {
  const { sql } = looking;
  const [a, b] = [await made('A'), await made('B')];
  const both = Promise.withResolvers<void>();
  let holders = 0;
  const cross = (first: string, second: string) =>
    sql.begin(async (tx) => {
      await tx`select from stream where id = ${first} for update`;
      holders += 1;
      if (holders === 2) both.resolve();
      await both.promise;
      await tx`select from stream where id = ${second} for update`;
    });
  const [failure] = (await Promise.allSettled([cross(a, b), cross(b, a)])).filter(
    ({ status }) => status === 'rejected',
  );
  assert.ok(failure?.status === 'rejected');
  assert.equal(sqlState(failure.reason), '40P01');
  assert.ok(isTransientError(failure.reason));
  const killed = sql`select pg_terminate_backend(pg_backend_pid())`;
  await assert.rejects(Promise.resolve(killed), isTransientError);
});
