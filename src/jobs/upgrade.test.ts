import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type TestContext, test } from 'node:test';
import { createTestDatabase } from '../../test/harness/database.ts';
import { loadTables } from '../platform/db/load.ts';
import { knownMigrations, migrate, RESTORE_MARK } from '../platform/db/migrate.ts';
import { claim } from './repository.ts';

/** Rows of pg-boss 12.35 (its schema 43), as COPY writes them: one job in each state, and one of pg-boss itself. */
const ROWS = join(import.meta.dirname, '../../test/jobs/pgboss-job.copy');
const COLUMNS = `id uuid, name text, priority integer, data jsonb, state pgboss.job_state, retry_limit integer,
  retry_count integer, retry_delay integer, retry_backoff boolean, retry_delay_max integer, expire_seconds integer,
  deletion_seconds integer, singleton_key text, singleton_on timestamp, group_id text, group_tier text,
  start_after timestamptz, created_on timestamptz, started_on timestamptz, completed_on timestamptz,
  keep_until timestamptz, output jsonb, dead_letter text, policy text, heartbeat_on timestamptz,
  heartbeat_seconds integer, blocked boolean, blocking boolean, pending_dependencies integer, source_name text,
  source_id uuid, source_created_on timestamptz, source_retry_count integer, source_output jsonb, source_root_id uuid`;

/** Opens a database that has all migrations from before the job table. */
async function openOldDatabase(t: TestContext) {
  const database = await createTestDatabase({ empty: true });
  t.after(() => database.close());
  const old = (await knownMigrations()).filter((name) => name < '0240');
  await migrate(database.sql, old);
  return database;
}

type OldDatabase = Awaited<ReturnType<typeof openOldDatabase>>;

async function assertUpgraded({ db, sql }: OldDatabase): Promise<void> {
  assert.ok((await migrate(sql)).includes('0240_job.sql'));
  const rows = await sql`
    select name, payload ->> 'label' as label, state, priority, group_id, singleton_key, fence, failed_count,
      lost_count, error, run_after > created_at + interval '59 minutes' as is_delayed
    from job order by created_at`;
  assert.deepEqual(
    rows.map((row) => Object.values(row)),
    [
      ['import.fetch', 'failed', 'failed', 0, 'wsp_1', 'random-failed', 0, 3, 1, 'Error: failure 3', false],
      ['import.fetch', 'retry', 'waiting', 3, 'wsp_2', 'imp_2', 0, 1, 0, 'Error: status 503', true],
      ['video.encode', 'active', 'active', 1, 'wsp_1', 'vid_1', 1, 0, 1, 'its process was gone', false],
      ['import.fetch', 'waiting', 'waiting', 0, 'wsp_1', 'random-waiting', 0, 0, 0, null, false],
      ['export.make', 'delayed', 'waiting', 0, '', 'random-delayed', 0, 0, 0, null, true],
    ],
  );
  const [schema] = await sql`select to_regnamespace('pgboss') as name`;
  assert.equal(schema?.name, null);
  assert.deepEqual((await claim(db, 'import.fetch'))?.payload, { label: 'waiting' });
}

test('a migration moves the jobs of pg-boss and drops its schema', async (t) => {
  const database = await openOldDatabase(t);
  const { sql } = database;
  await sql.unsafe(`create schema pgboss;
    create type pgboss.job_state as enum ('created', 'retry', 'active', 'completed', 'cancelled', 'failed');
    create table pgboss.job (${COLUMNS})`);
  await pipeline(createReadStream(ROWS), await sql`copy pgboss.job from stdin`.writable());
  await assertUpgraded(database);
});

test('a backup with jobs of pg-boss is restored', async (t) => {
  const database = await openOldDatabase(t);
  const { sql } = database;
  await sql`create schema ${sql(RESTORE_MARK)}`;
  const columns = COLUMNS.split(',').map((column) => column.trim().split(' ')[0] ?? '');
  const tables = [
    { name: 'pgboss.job', columns },
    { name: 'pgboss.queue', columns: ['name'] },
  ];
  await loadTables(sql, { tables, sequences: [] }, (_table, into) => pipeline(createReadStream(ROWS), into));
  await assertUpgraded(database);
});
