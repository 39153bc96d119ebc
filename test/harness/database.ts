import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { join } from 'node:path';
import postgres, { type Sql } from 'postgres';
import { unmarked } from '../../scripts/orphan-processes.ts';
import { type Db, waitForDatabase } from '../../src/platform/db/index.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { migrationsHash } from './migrations.ts';
import { SERVER_SOCKET } from './paths.ts';
import { waitFor } from './wait-for.ts';

/** Arbitrary constant of the advisory lock that serializes the creation of templates. */
const TEMPLATE_LOCK = 7_220_412;

/** Connections that only run commands: loading the types costs more than most of these. */
const ADMIN = { max: 1, fetch_types: false, onnotice: () => {} };

export interface TestDatabase {
  /** URL of this database, for processes that a test starts. */
  url: string;
  db: Db;
  sql: Sql;
  /** Ends the pool and drops the database. */
  close(): Promise<void>;
}

interface TestDatabaseOptions {
  /** Connections, default 10. */
  pool?: number;
  /** An empty database without migrations, e.g. to test the migrations. */
  empty?: boolean;
}

/**
 * Creates a migrated database, cloned from a template that is migrated once. Use one for each test file:
 * `const t = await createTestDatabase(); after(() => t.close());`
 */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const server = await serverUrl();
  const admin = postgres(server, ADMIN);
  const name = `test_${process.pid}_${randomBytes(4).toString('hex')}`;
  try {
    const template = options.empty === true ? 'template1' : await ensureTemplate(admin, server);
    await admin.unsafe(`create database ${name} template ${template} strategy file_copy`);
  } finally {
    await admin.end();
  }
  const url = databaseUrl(server, name);
  const handle = await waitForDatabase({ url, pool: options.pool ?? 10, name });
  return {
    url,
    db: handle.db,
    sql: handle.sql,
    close: async () => {
      await handle.close();
      const last = postgres(server, ADMIN);
      await last.unsafe(`drop database if exists ${name} with (force)`).finally(() => last.end());
    },
  };
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function ensureTemplate(admin: Sql, server: string): Promise<string> {
  const template = `template_${await migrationsHash()}`;
  const exists = async () => {
    const rows = await admin`select 1 from pg_database where datname = ${template}`;
    return rows.length > 0;
  };
  if (await exists()) return template;
  await admin`select pg_advisory_lock(${TEMPLATE_LOCK})`;
  try {
    if (await exists()) return template;
    await dropLeftovers(admin);
    const raw = `raw_${randomBytes(4).toString('hex')}`;
    await admin.unsafe(`create database ${raw}`);
    const sql = postgres(databaseUrl(server, raw), { max: 1, onnotice: () => {} });
    await migrate(sql).finally(() => sql.end());
    await admin.unsafe(`alter database ${raw} rename to ${template}`);
    return template;
  } finally {
    await admin`select pg_advisory_unlock(${TEMPLATE_LOCK})`;
  }
}

/** Old templates, and databases of test processes that were killed. */
async function dropLeftovers(admin: Sql): Promise<void> {
  const rows = await admin<{ name: string }[]>`
    select datname as name from pg_database d
    where (datname like 'template\\_%' or datname like 'raw\\_%' or datname like 'test\\_%')
      and not exists (select 1 from pg_stat_activity a where a.datname = d.datname)`;
  for (const { name } of rows) {
    const owner = /^test_(\d+)_/.exec(name)?.[1];
    if (owner !== undefined && alive(Number(owner))) continue;
    await admin.unsafe(`drop database if exists ${name}`).catch(() => {});
  }
}

function alive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

let address: Promise<string> | undefined;

/** Returns the URL of the shared server, which is started if it does not respond. */
function serverUrl(): Promise<string> {
  address ??= askServer().catch(async () => {
    spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'postgres-server.ts')],
      {
        detached: true,
        stdio: 'ignore',
        env: unmarked(),
      },
    ).unref();
    return waitFor(askServer, { timeoutMs: 30_000, intervalMs: 20, message: "the tests' database server" });
  });
  return address;
}

/** The connection stays open for the lifetime of this process, which keeps the server running. */
function askServer(): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(SERVER_SOCKET);
    let text = '';
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the database server hung up')));
    socket.on('data', (chunk) => {
      text += chunk.toString();
      if (!text.endsWith('\n')) return;
      socket.unref();
      resolve(text.trim());
    });
  });
}
