import { setTimeout as sleep } from 'node:timers/promises';
import postgres, { type Sql } from 'postgres';
import { startTestApp } from '../test/harness/app.ts';
import { TestClock } from '../test/harness/clock.ts';
import { runTask } from '../test/harness/modules.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { isQuick, report } from './support/report.ts';

/**
 * Verifies that growing tables stay bounded without intervention: day after day is written with an advanced
 * clock, and after every third the tasks of the worker role run (in production: each hour). Whole days of the
 * logs are dropped while rows are written; the delivery queue is filled and emptied daily, and PostgreSQL's
 * own vacuum frees its space.
 *
 * Argument: rows per day in each log, 5,000 by default (some two minutes).
 */
const DAY_MS = 86_400_000;
const [count] = process.argv.slice(2).filter((one) => !one.startsWith('--'));
const ROWS = Number(count ?? (isQuick ? 1000 : 5000));
const RAW_DAYS = 7;
const KEPT: Record<string, number> = { event: 30, delivery_log: 30, request_log: 7, usage_event: RAW_DAYS };
/** Every table is full by then, and one partition is dropped with each day that follows. */
const FULL = 35;
const DAYS = 45;
/**
 * Additional partitions: those created ahead, today's, and the default one; maintenance runs every third day.
 */
const BESIDE = 5;
const TASKS = ['event partitions', 'idempotency sweep', 'analytics rollups'];

const clock = new TestClock(Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2);
const app = await startTestApp({ clock, env: { ANALYTICS_RAW_DAYS: String(RAW_DAYS) } });
const { sql } = app.container;
const writer = postgres(app.databaseUrl, { max: 1, onnotice: () => {} });
try {
  const { account } = await app.createKey();
  // Run at the start of the program.
  await runTask(app.container, 'event partitions');
  await days(account.live);
  await queue(account.live);
} finally {
  await writer.end();
  await app.close();
}

async function days(workspaceId: string): Promise<void> {
  const full = new Map<string, number>();
  let waitedMs = 0;
  for (let day = 0; day < DAYS; day++) {
    await writeDay(sql, workspaceId);
    clock.advance(DAY_MS);
    if (day % 3 !== 2) continue;
    const upkeep = (async () => {
      for (const task of TASKS) await runTask(app.container, task);
    })();
    waitedMs = Math.max(waitedMs, await longestWait(workspaceId, upkeep));
    if (day !== FULL) continue;
    for (const table of Object.keys(KEPT)) full.set(table, await bytesOf(table));
  }
  for (const [table, days] of Object.entries(KEPT)) {
    const before = clock.ms() - (days + 1) * DAY_MS;
    const [old] =
      await sql`select count(*)::int as rows from ${sql(table)} where created_at < ${new Date(before)}`;
    const [parts] = await sql`
      select count(*)::int as count from pg_inherits where inhparent = ${table}::regclass`;
    report({ name: `${table}, rows that are too old`, value: old?.rows, unit: 'rows', target: '<= 0' });
    report({ name: `${table}, partitions`, value: parts?.count, unit: '', target: `<= ${days + BESIDE}` });
    const value = (await bytesOf(table)) / (full.get(table) ?? Number.NaN);
    report({ name: `${table}, size ${DAYS - FULL} days later`, value, unit: 'x', target: '<= 1.1' });
  }
  const [stored] = await sql`select count(*)::int as rows from idempotency_record`;
  report({ name: 'stored answers', value: stored?.rows / ROWS, unit: 'days', target: '<= 3' });
  report({ name: 'longest wait of a writer', value: waitedMs, unit: 'ms', target: '<= 500' });
}

/** Writes the rows of one day, at noon. */
async function writeDay(sql: Sql, workspaceId: string): Promise<void> {
  const at = clock.now();
  await sql`insert into event (id, workspace_id, type, created_at, body)
    select gen_random_uuid(), ${workspaceId}, 'video.updated', ${at}::timestamptz, repeat('x', 300) from generate_series(1, ${ROWS}::int)`;
  await sql`insert into delivery_log (id, workspace_id, webhook_id, event_id, event_type, trigger, attempt, status,
      response_status, latency_ms, created_at)
    select 'dlv_' || gen_random_uuid(), ${workspaceId}, 'wh_a', gen_random_uuid(), 'video.updated', 'EVENT', 1, 'SUCCESS',
      200, 5, ${at}::timestamptz from generate_series(1, ${ROWS}::int)`;
  await sql`insert into request_log (id, workspace_id, request_id, key_id, method, path, status, ms, created_at)
    select 'req_' || gen_random_uuid(), ${workspaceId}, gen_random_uuid(), 'key_a', 'GET', '/videos', 200, 1.5, ${at}::timestamptz
    from generate_series(1, ${ROWS}::int)`;
  await sql`insert into usage_event (created_at, id, workspace_id, kind, subject_id, viewer, country)
    select ${at}::timestamptz, 'fct_' || gen_random_uuid(), ${workspaceId}, 'VIEW', 'vid_' || n % 10, sha256(n::text::bytea), 'DE'
    from generate_series(1, ${ROWS}::int) n`;
  await sql`insert into idempotency_record (id, workspace_id, fingerprint, status, body, expires_at)
    select sha256((${at.toISOString()} || n)::bytea), ${workspaceId}, '', 200, '{}', ${new Date(at.getTime() + DAY_MS)}::timestamptz
    from generate_series(1, ${ROWS}::int) n`;
}

/** Returns the longest time in ms that inserting one row took while the work ran. */
async function longestWait(workspaceId: string, work: Promise<void>): Promise<number> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  // A failure of the work is thrown below, when the writer has ended.
  done.catch(() => {});
  let longest = 0;
  while (!isDone) {
    const begun = performance.now();
    await writer`insert into event (id, workspace_id, type, created_at, body)
      values (gen_random_uuid(), ${workspaceId}, 'video.updated', ${clock.now()}, '{}')`;
    longest = Math.max(longest, performance.now() - begun);
    await sleep(5);
  }
  await done;
  return longest;
}

/** Returns the size of a table including partitions and indexes. */
async function bytesOf(table: string): Promise<number> {
  const [row] = await sql`
    select sum(pg_total_relation_size(relid))::float8 as bytes from pg_partition_tree(${table}::regclass)`;
  return row?.bytes;
}

/** Passes the rows of twenty days through the delivery queue: the worker writes, claims and removes them. */
async function queue(workspaceId: string): Promise<void> {
  const rounds = 20;
  let halfBytes = 0;
  for (let round = 1; round <= rounds; round++) {
    await sql`insert into delivery_job (workspace_id, webhook_id, event_id, event_created_at)
      select ${workspaceId}, 'wh_a', gen_random_uuid(), ${clock.now()}::timestamptz from generate_series(1, ${ROWS}::int)`;
    await sql`update delivery_job set lease = lease + 1, next_at = next_at + interval '30 seconds'`;
    await sql`delete from delivery_job`;
    await waitFor(async () => (await deadRows()) <= ROWS, { timeoutMs: 60_000, intervalMs: 500 });
    if (round === rounds / 2) halfBytes = await bytesOfQueue();
  }
  await waitFor(async () => (await deadRows()) <= 1000, { timeoutMs: 60_000, intervalMs: 500 });
  const value = (await bytesOfQueue()) / halfBytes;
  report({
    name: `queue of deliveries, size after ${rounds * ROWS} jobs`,
    value,
    unit: 'x',
    target: '<= 1.5',
  });
  report({
    name: 'queue of deliveries, dead rows',
    value: await deadRows(),
    unit: 'rows',
    target: '<= 1000',
  });
}

/** Returns the dead rows by PostgreSQL's statistics; its own vacuum removes them. */
async function deadRows(): Promise<number> {
  const [row] =
    await sql`select n_dead_tup::float8 as dead from pg_stat_user_tables where relname = 'delivery_job'`;
  return row?.dead;
}

async function bytesOfQueue(): Promise<number> {
  const [row] = await sql`select pg_total_relation_size('delivery_job')::float8 as bytes`;
  return row?.bytes;
}
