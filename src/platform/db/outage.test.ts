import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { sql as text } from 'kysely';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { type OwnPostgres, startOwnPostgres } from '../../../test/harness/own-postgres.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { isTransientError, openDatabase } from './index.ts';
import { DatabaseUnavailableError } from './unavailable-error.ts';

let server: OwnPostgres;
let app: TestApp;
let key: string;

before(async () => {
  server = await startOwnPostgres();
  app = await startTestApp({ databaseUrl: server.url, env: { DATABASE_POOL: '4' } });
  ({ key } = await app.createKey());
});
after(async () => {
  await app.close();
  await server.close();
});

const one = (db: ReturnType<typeof openDatabase>['db']) => text`select 1`.execute(db);

async function isBack(): Promise<boolean> {
  const answer = await app.request('GET', '/streams', { key });
  return answer.status === 200;
}

/** Reads, a write, an idempotent write, sign-in, and look-ups of a key and of a session. */
async function askEverything() {
  const body = { title: 'During an outage' };
  const session = `session=${'0'.repeat(43)}`;
  const idempotent = { 'idempotency-key': `outage-${Math.random().toString(36).slice(2)}` };
  return Promise.all([
    app.request('GET', '/streams', { key }),
    app.request('GET', '/streams/str_00000000000000000000000000', { key }),
    app.request('POST', '/streams', { key, body }),
    app.request('POST', '/streams', { key, body, headers: idempotent }),
    app.request('GET', '/streams', { key: `pk_${'0'.repeat(40)}` }),
    app.request('GET', '/streams', { headers: { cookie: session } }),
    app.request('POST', '/auth/login', {
      key,
      body: { email: 'who@example.test', password: 'a long password' },
    }),
  ]);
}

async function assertUnavailable(): Promise<void> {
  for (const [index, answer] of (await askEverything()).entries()) {
    assert.equal(answer.status, 503, `request ${index}: ${answer.text}`);
    answer.assertError('SERVICE_UNAVAILABLE');
    assert.equal(answer.headers['retry-after'], '2');
  }
  const page = await fetch(`${app.url}/@nobody`);
  assert.equal(page.status, 503);
  assert.equal(page.headers.get('retry-after'), '2');
}

test('a killed database gives 503 with Retry-After everywhere, and every part works after its restart', async () => {
  let hints = 0;
  app.container.bus.subscribe('outage', () => {
    hints += 1;
  });
  await waitFor(isBack);
  await server.kill();
  for (let round = 0; round < 3; round++) await assertUnavailable();
  await server.start();
  await waitFor(isBack, { message: 'requests succeed' });
  const made = await app.request('POST', '/streams', { key, body: { title: 'After' } });
  assert.equal(made.status, 201);
  const other = openDatabase({ url: server.url, pool: 1, name: 'other' });
  await waitFor(
    async () => {
      await other.sql`select pg_notify('marquee', ${'other\noutage\n'})`;
      return hints > 0;
    },
    { message: 'hints of other processes arrive' },
  );
  await other.close();
});

test('statements during an outage open no connections, and the log has a line for its begin and its end', async () => {
  const lines: unknown[] = [];
  const log = {
    warn: (line: unknown) => lines.push(line),
    info: (_fields: unknown, line: unknown) => lines.push(line),
  };
  const pool = openDatabase({ url: server.url, pool: 4, name: 'pool', log: Object.assign(log) });
  await one(pool.db);
  assert.deepEqual(pool.status(), { connecting: 0, open: 1, isAway: false });
  await server.kill();
  let connections = 0;
  const stranger = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  stranger.listen(Number(new URL(server.url).port), '127.0.0.1');
  await once(stranger, 'listening');
  await waitFor(() => pool.status().isAway);
  connections = 0;
  const results = await Promise.allSettled([
    ...Array.from({ length: 200 }, () => one(pool.db)),
    ...Array.from({ length: 200 }, () => pool.db.transaction().execute(one)),
    ...Array.from({ length: 200 }, () => pool.sql`select 1`),
  ]);
  for (const result of results) {
    assert.ok(result.status === 'rejected');
    assert.ok(result.reason instanceof DatabaseUnavailableError);
    assert.ok(isTransientError(result.reason));
  }
  assert.ok(connections < 100, `${connections} connections, which should be those of probes`);
  stranger.close();
  await server.start();
  await waitFor(() => !pool.status().isAway);
  await one(pool.db);
  assert.deepEqual(lines, ['the database is unavailable', 'the database is available again']);
  await pool.close();
});

test('a connection that ends while a statement is sent is replaced', async () => {
  const pool = openDatabase({ url: server.url, pool: 1, name: 'lost' });
  const other = openDatabase({ url: server.url, pool: 1, name: 'other' });
  const [row] = await pool.sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  let isStopped = false;
  const send = () => {
    if (isStopped) return;
    pool.sql.unsafe('select $1::int', [1], { prepare: true }).catch(() => {});
    setImmediate(send);
  };
  send();
  await other.sql`select pg_terminate_backend(${row?.pid ?? 0})`;
  await waitFor(async () => {
    const alive = await other.sql`select from pg_stat_activity where pid = ${row?.pid ?? 0}`;
    return alive.length === 0;
  });
  isStopped = true;
  // Otherwise it waits for longer than the deadline.
  await waitFor(() =>
    one(pool.db).then(
      () => true,
      (error) => !isTransientError(error) && Promise.reject(error),
    ),
  );
  await pool.close();
  await other.close();
});

test('with several hosts, statements go to the primary, also after a failover and a switchover', async (t) => {
  const second = await startOwnPostgres();
  t.after(() => second.close());
  const [a, b] = [new URL(server.url), new URL(second.url)];
  assert.deepEqual([a.username, a.password, a.pathname], [b.username, b.password, b.pathname]);
  const setStandby = async (url: string, isStandby: boolean) => {
    const admin = openDatabase({ url, pool: 1, name: 'admin' });
    await admin.sql.unsafe(`alter system set default_transaction_read_only = ${isStandby ? 'on' : 'off'}`);
    await admin.sql`select pg_reload_conf()`;
    await waitFor(async () => {
      const [row] = await admin.sql`select current_setting('default_transaction_read_only') as value`;
      return (row?.value === 'on') === isStandby;
    });
    await admin.close();
  };
  await setStandby(second.url, true);
  const url = `postgres://${a.username}:${a.password}@127.0.0.1:1,${a.host},${b.host}${a.pathname}`;
  for (const parameters of ['?target_session_attrs=read-write', '']) {
    const pool = openDatabase({ url: url + parameters, pool: 2, name: 'failover' });
    const write = () =>
      pool.db.transaction().execute(async (tx) => {
        await text`create table if not exists failover (at timestamptz)`.execute(tx);
        const { rows } = await text<{ port: string }>`
          insert into failover values (now()) returning current_setting('port') as port`.execute(tx);
        return rows[0]?.port;
      });
    const eventually = () =>
      waitFor(() =>
        write().catch((error: unknown) => {
          assert.ok(isTransientError(error), String(error));
          return null;
        }),
      );
    const first = await eventually();
    await setStandby(second.url, false);
    await server.kill();
    const promoted = await eventually();
    assert.notEqual(promoted, first);
    await server.start();
    assert.equal(await write(), promoted);
    // Its connections stay, and only reads succeed on them.
    await setStandby(second.url, true);
    assert.notEqual(await eventually(), promoted);
    await pool.close();
  }
});
