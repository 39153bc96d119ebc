import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { after, before as beforeAll, describe, test } from 'node:test';
import postgres, { type Sql } from 'postgres';
import { schemaSnapshot } from '../../scripts/generate/schema-snapshot.ts';
import { claim } from '../../src/jobs/repository.ts';
import { knownMigrations, migrate } from '../../src/platform/db/migrate.ts';
import { readDatabaseState } from '../../src/platform/db/state.ts';
import { SECRET_KEY } from '../harness/app.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { headersOf, type RunningPlatform, startPlatform } from '../harness/platform.ts';
import { TestResponse } from '../harness/response.ts';
import { waitFor } from '../harness/wait-for.ts';

/** Jobs of pg-boss 12.35 (its schema 43), as COPY writes them: one in each state, and one of pg-boss itself. */
const JOBS = join(import.meta.dirname, 'pgboss-job.copy');
const PASSWORD = 'correct horse battery';
const LIVE_KEY = 'pk_8725a7585f164a6cec089cc2735d3bae366e266a';
const TEST_KEY = 'pk_bb0d3b3fb30efd41c53d1ac72fbee3198aaef62f';
/** Migrations after the squashed ones. */
const NEWER = (await knownMigrations()).filter((name) => name > '0011');
const FILES = ['upgrade/from_0220.sql', 'upgrade/from_0251.sql', ...NEWER];

const RENAMED = new Map([
  ['analytics_seen', 'analytics_unique_viewer'],
  ['analytics_share', 'analytics_breakdown'],
  ['cohort_session_removed', 'cohort_session_tombstone'],
  ['deprecated_use', 'deprecated_endpoint_usage'],
  ['fact', 'usage_event'],
  ['fact_sum_state', 'rollup_state'],
  ['kept_count', 'counter_delta'],
  ['link_request', 'email_link_request'],
  ['notification_reading', 'notification_read'],
  ['provider_look', 'provider_poll_state'],
  ['quota_notice', 'quota_notification'],
  ['sign_in_place', 'sign_in_location'],
]);
/** Tables whose rows change: migrations are replaced, and subscriptions lose two columns. */
const CHANGED = new Set(['migration', 'subscription']);

const fixture = await readFile(join(import.meta.dirname, 'database.sql'), 'utf8');

async function openOldDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase({ empty: true });
  await database.sql.unsafe(fixture);
  return database;
}

/** Reads the rows of every table as text, without column names, in the order of their text. */
async function rowsByTable(sql: Sql): Promise<Map<string, string[]>> {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`;
  const read = async ({ name }: { name: string }) => {
    const rows = await sql.unsafe<{ row: string }[]>(`select t::text as row from ${name} t order by 1`);
    return [name, rows.map(({ row }) => row)] as const;
  };
  return new Map(await Promise.all(tables.map(read)));
}

async function readSchema(sql: Sql): Promise<string[]> {
  const lines = (await schemaSnapshot(sql)).split('\n').map((line) => line.replace(/,$/, ''));
  // Columns have another order in an upgraded table, and indexes of partitions other names.
  return lines.filter((line) => !/^CREATE INDEX \w+ ON public\.\w+_default /.test(line)).sort();
}

describe('an older database', () => {
  let old: TestDatabase;
  let before: Map<string, string[]>;
  beforeAll(async () => {
    old = await openOldDatabase();
    await pipeline(createReadStream(JOBS), await old.sql`copy pgboss.job from stdin`.writable());
    before = await rowsByTable(old.sql);
  });
  after(() => old.close());

  test('is rejected with the version that upgrades it when it is too old', async () => {
    const { sql } = old;
    const upgradable = await readDatabaseState(sql);
    assert.deepEqual([upgradable.obstacle, upgradable.unknown], [null, []]);
    const obstacle =
      'the database is too old for this version: its last migration is 0211_sign_in_network.sql';
    await sql`update migration set name = '0200_other.sql' where name = '0220_counter_windows.sql'`;
    assert.equal((await readDatabaseState(sql)).obstacle, obstacle);
    const message = `${obstacle}; start commit b5afe8f1 once, then this version`;
    await assert.rejects(migrate(sql), { message });
    await sql`update migration set name = '0220_counter_windows.sql' where name = '0200_other.sql'`;
    assert.deepEqual(await rowsByTable(sql), before);
  });

  test('is unchanged after an interrupted upgrade', async () => {
    const { sql, url } = old;
    const [reader, node] = [connect(url), connect(url)];
    await reader.begin(async (tx) => {
      // One of the last tables that the upgrade changes.
      await tx`lock table workspace in access share mode`;
      const interrupted = assert.rejects(migrate(node), /canceling statement/);
      await waitFor(async () => {
        const blocked = await sql`
          select pg_cancel_backend(pid) from pg_locks where not granted and relation = 'workspace'::regclass`;
        return blocked.length > 0;
      });
      await interrupted;
    });
    await Promise.all([reader.end(), node.end()]);
    assert.deepEqual(await rowsByTable(sql), before);
  });

  test('is upgraded once when nodes start together, with all rows and the schema of a new one', async (t) => {
    const { sql, url } = old;
    const node = connect(url);
    const fresh = await createTestDatabase();
    t.after(() => Promise.all([node.end(), fresh.close()]));
    assert.deepEqual((await Promise.all([migrate(sql), migrate(node)])).flat(), FILES);
    const upgraded = await rowsByTable(sql);
    for (const [name, rows] of before) {
      assert.notEqual(rows.length, 0, name);
      if (!CHANGED.has(name)) assert.deepEqual(upgraded.get(RENAMED.get(name) ?? name), rows, name);
    }
    assert.equal(upgraded.get('subscription')?.length, before.get('subscription')?.length);
    assert.equal(upgraded.size, before.size + 1);
    assert.deepEqual(await readSchema(sql), await readSchema(fresh.sql));
    const names = await sql<{ name: string }[]>`select name from migration order by name`;
    assert.deepEqual(
      names.map(({ name }) => name),
      await knownMigrations(),
    );
  });

  test('has its jobs of pg-boss in the job table afterwards', async () => {
    const { sql, db } = old;
    const rows = await sql`
      select name, payload ->> 'label' as label, state, priority, group_id, singleton_key, fence, failed_count,
        lost_count, error, run_after > created_at + interval '59 minutes' as is_delayed
      from job where payload ? 'label' order by created_at`;
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
  });
});

const connect = (url: string) => postgres(url, { max: 1, onnotice: () => {} });

test('a database with the last older migration is recognized', async (t) => {
  const { sql, close } = await createTestDatabase({ empty: true });
  t.after(close);
  const squashed = (await knownMigrations()).filter((name) => !NEWER.includes(name));
  await migrate(sql, squashed);
  const older = [
    ...[...fixture.matchAll(/'(\d{4}_\w+\.sql)'/g)].map(([, name]) => name),
    ...['0230_search_extension.sql', '0231_search_indexes.sql', '0232_drop_sampled_searches.sql'],
    ...['0240_job.sql', '0250_rename_tables.sql', '0251_rename_columns.sql'],
  ];
  await sql`delete from migration`;
  await sql`insert into migration ${sql(older.map((name) => ({ name })))}`;
  await sql`alter table subscription add column requires_charge_consent boolean, add column upgrade_purchase_id text`;
  assert.deepEqual(await migrate(sql), ['upgrade/from_0251.sql', ...NEWER]);
  assert.deepEqual(await migrate(sql), []);
});

test('the program starts on an older database and works on it', async (t) => {
  const { sql, url, close } = await openOldDatabase();
  t.after(close);
  const environment = { DATABASE_URL: url, SECRET_KEY: SECRET_KEY.toString('hex'), ROLES: 'api,worker' };
  const platform = await startPlatform({ environment });
  t.after(() => platform.stop());
  const body = { email: 'ada@example.com', password: PASSWORD };
  const signedIn = await send(platform, LIVE_KEY, 'POST', '/auth/login', body);
  assert.equal(signedIn.at('user.email'), 'ada@example.com');

  const live = (path: string) => read(platform, LIVE_KEY, path);
  const inTest = (path: string) => read(platform, TEST_KEY, path);
  assert.equal((await live('/streams')).length, 4);
  assert.equal((await live('/videos?tag=music')).length, 1);
  assert.equal((await inTest('/booking/products')).length, 3);
  assert.equal((await inTest('/me/subscriptions')).length, 1);
  const range = 'from=2026-11-28T00:00:00Z&to=2026-11-30T00:00:00Z';
  const revenue = await send(platform, TEST_KEY, 'GET', `/monetization/revenue?${range}`);
  assert.equal(revenue.assertOk(200).at('data.totals.grossCents'), 12_100);

  for (const [path, input] of [
    ['/streams', { title: 'A later stream' }],
    ['/videos', { title: 'A later video' }],
    ['/tiers', { name: 'Later', priceCents: 500, interval: 'MONTH' }],
    ['/booking/products', { title: 'A later lesson', type: 'ONE_TO_ONE', priceCents: 0 }],
  ] as const)
    (await send(platform, TEST_KEY, 'POST', path, input)).assertOk(201);

  // The older version enqueued it.
  await waitFor(
    async () => {
      const [row] = await sql<{ status: string }[]>`select status from account_export`;
      assert.notEqual(row?.status, 'FAILED');
      return row?.status === 'READY';
    },
    { timeoutMs: 10_000, message: 'the export' },
  );
});

async function send({ api }: RunningPlatform, key: string, method: string, path: string, body?: object) {
  const response = await fetch(`${api}${path}`, {
    method,
    headers: headersOf(key),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return new TestResponse(response.status, Object.fromEntries(response.headers), await response.text());
}

async function read(platform: RunningPlatform, key: string, path: string): Promise<unknown[]> {
  return (await send(platform, key, 'GET', path)).assertOk(200).list('data');
}
