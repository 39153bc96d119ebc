import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import postgres from 'postgres';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { createLogger } from '../logger.ts';
import { readEmbeddedUrl, startEmbeddedPostgres } from './embedded.ts';

const log = createLogger('silent');
let dataDir: string;

before(async () => {
  // 0700, as `mktemp -d` makes it: closed to the system user when the tests run as root.
  dataDir = await mkdtemp(join(tmpdir(), 'marquee-embedded-'));
});
after(() => rm(dataDir, { recursive: true, force: true }));

async function query(url: string, text: string): Promise<string> {
  const sql = postgres(url, { max: 1, connect_timeout: 5 });
  try {
    const [row] = await sql.unsafe<Record<string, unknown>[]>(text);
    return String(Object.values(row ?? {})[0]);
  } finally {
    await sql.end();
  }
}

/** Starts a separate program that starts the server, prints "ready" and waits to be killed. */
async function startHolder(): Promise<ChildProcess> {
  const code = `
    import { startEmbeddedPostgres } from ${JSON.stringify(join(import.meta.dirname, 'embedded.ts'))};
    import { createLogger } from ${JSON.stringify(join(import.meta.dirname, '../logger.ts'))};
    await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, log: createLogger('silent') });
    console.log('ready');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(createInterface({ input: child.stdout }), 'line');
  return child;
}

async function postmasterPid(): Promise<number> {
  return Number((await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0]);
}

test('the first start creates a UTF-8 cluster that requires its password', async () => {
  const server = await startEmbeddedPostgres({ dataDir, log });
  assert.match(await query(server.url, 'select version()'), /^PostgreSQL 18/);
  assert.equal(await query(server.url, 'show server_encoding'), 'UTF8');
  assert.equal(await query(server.url, `select lower('É')`), 'é');
  assert.equal(await query(server.url, 'show autovacuum_naptime'), '20s');
  assert.equal(await query(server.url, 'show listen_addresses'), '127.0.0.1');
  assert.equal(await query(server.url, 'show fsync'), 'on');
  const stranger = new URL(server.url);
  stranger.password = 'guess';
  await assert.rejects(query(stranger.href, 'select 1'), /password authentication failed/);
  assert.equal((await stat(join(dataDir, 'postgres.json'))).mode & 0o777, 0o600);
  assert.equal(readEmbeddedUrl(dataDir), server.url);
  await query(server.url, 'create table kept as select 1 as n');
  await server.stop();
  assert.equal(readEmbeddedUrl(dataDir), null);
});

test('a start after kill -9 of only the program finds its data', async () => {
  const holder = await startHolder();
  holder.kill('SIGKILL');
  const server = await startEmbeddedPostgres({ dataDir, log });
  assert.equal(await query(server.url, 'select n from kept'), '1');
  await server.stop();
});

test('a start after kill -9 of everything finds its data', async () => {
  const holder = await startHolder();
  const pid = await postmasterPid();
  holder.kill('SIGSTOP');
  process.kill(pid, 'SIGKILL');
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  assert.equal(await postmasterPid(), pid, 'the stale file is there');
  const server = await startEmbeddedPostgres({ dataDir, log });
  assert.equal(await query(server.url, 'select n from kept'), '1');
  await server.stop();
});

test("a stale postmaster.pid that names another user's or our own process does not stop a start", async () => {
  const { uid } = await stat(join(dataDir, 'postgres'));
  const other = spawn('sleep', ['60'], process.getuid?.() === 0 ? { uid } : {});
  try {
    for (const pid of [other.pid, process.pid]) {
      const file = join(dataDir, 'postgres/postmaster.pid');
      await writeFile(file, `${pid}\n${dataDir}/postgres\n1700000000\n5432\n\n127.0.0.1\n\nready   \n`);
      const server = await startEmbeddedPostgres({ dataDir, log });
      assert.equal(await query(server.url, 'select n from kept'), '1');
      await server.stop();
    }
    assert.equal(other.exitCode, null, 'the other process lives');
  } finally {
    other.kill('SIGKILL');
  }
});

test('a lost address file is replaced; half a cluster of a killed first start is thrown away', async () => {
  await rm(join(dataDir, 'postgres.json'));
  await mkdir(join(dataDir, 'postgres.new'), { recursive: true });
  const server = await startEmbeddedPostgres({ dataDir, log });
  assert.equal(await query(server.url, 'select n from kept'), '1');
  await server.stop();

  const fresh = await mkdtemp(join(tmpdir(), 'marquee-embedded-'));
  await mkdir(join(fresh, 'postgres.new/base'), { recursive: true });
  const second = await startEmbeddedPostgres({ dataDir: fresh, log });
  assert.equal(await query(second.url, 'select 1'), '1');
  await second.stop();
  await rm(fresh, { recursive: true });
});

test('the program is notified when a server dies, but not when it stopped the server itself', async () => {
  const server = await startEmbeddedPostgres({ dataDir, log });
  let crash: string | undefined;
  void server.crashed.then((reason) => {
    crash = reason;
  });
  process.kill(await postmasterPid(), 'SIGKILL');
  await waitFor(() => crash, { message: 'the crash' });
  const next = await startEmbeddedPostgres({ dataDir, log });
  let stopped = false;
  void next.crashed.then(() => {
    stopped = true;
  });
  await next.stop();
  assert.equal(stopped, false);
});

test('startup failures are reported in one line', async () => {
  const file = join(dataDir, 'a-file');
  await writeFile(file, '');
  await assert.rejects(startEmbeddedPostgres({ dataDir: join(file, 'x'), log }), /^Error: .*a-file.*$/);

  await appendFile(join(dataDir, 'postgres/postgresql.conf'), '\nno_such_setting = 1\n');
  await assert.rejects(
    startEmbeddedPostgres({ dataDir, log }),
    /^Error: .*did not start: .*configuration file.*$/,
  );

  await writeFile(join(dataDir, 'postgres/PG_VERSION'), '17\n');
  await assert.rejects(
    startEmbeddedPostgres({ dataDir, log }),
    /^Error: .*PostgreSQL 17, but this program runs 18$/,
  );
});
