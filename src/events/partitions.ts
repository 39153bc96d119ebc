import type { Sql, TransactionSql } from 'postgres';
import { type Clock, dateFromMs } from '../kernel/clock.ts';
import { DAY_MS } from '../kernel/durations.ts';
import type { Config } from '../platform/config.ts';
import { sqlState } from '../platform/db/index.ts';

const TABLES = [
  // docs/decisions/events-and-deliveries.md#the-event-log
  { table: 'event', keptDays: 30 },
  { table: 'delivery_log', keptDays: 30 },
  // docs/decisions/request-log.md
  { table: 'request_log', keptDays: 7 },
] as const;

/** Configured retention of tables. */
export type RetentionDays = Pick<Config, 'ANALYTICS_RAW_DAYS'>;

function tablesOf({ ANALYTICS_RAW_DAYS: factDays }: RetentionDays) {
  // docs/decisions/analytics.md#usage-events
  return [...TABLES, { table: 'usage_event', keptDays: factDays }];
}
const DAYS_AHEAD = 3;
/**
 * Assumed number of event types, regardless of how few a day has seen: otherwise the planner would search a
 * rare type with the time index, as if it were frequent.
 */
const TYPES = '150';
/** Any constant: one process at a time changes partitions. */
const LOCK = 7_220_413;

/**
 * Creates the day partitions of today and the next three days, and drops those older than the retention of
 * their table. Safe to run at any time from any number of processes.
 *
 * @returns the names of the partitions created and dropped now.
 * @throws {Error} at the end, when a table is locked too long by a reader, such as a backup, and its changes
 *   were postponed.
 */
export async function maintainPartitions(
  sql: Sql,
  clock: Clock,
  kept: RetentionDays,
): Promise<{ made: string[]; dropped: string[] }> {
  const { made, dropped, late } = await changePartitions(sql, clock, kept);
  if (late.length > 0) throw inUse(late);
  return { made, dropped };
}

/**
 * Prepares the partitions before a start, which only needs those of today: the hourly task creates the others
 * later.
 *
 * @throws {Error} when one of today is missing because its table is locked too long by a reader.
 */
export async function preparePartitions(sql: Sql, clock: Clock, kept: RetentionDays): Promise<void> {
  const { late } = await changePartitions(sql, clock, kept);
  const today = dayName(dayOf(clock));
  const missing = late.filter((name) => name.endsWith(today));
  if (missing.length > 0) throw inUse(missing);
}

function inUse(late: string[]): Error {
  return new Error(
    `partitions are waiting for a reader of their table, such as a backup: ${late.join(', ')}`,
  );
}

async function changePartitions(sql: Sql, clock: Clock, kept: RetentionDays) {
  const today = dayOf(clock);
  const made: string[] = [];
  const dropped: string[] = [];
  const late: string[] = [];
  for (const { table, keptDays } of tablesOf(kept)) {
    const existing = await partitionsOf(sql, table);
    const makings: Change[] = [];
    for (let day = today; day <= today + DAYS_AHEAD; day++) {
      const name = `${table}_${dayName(day)}`;
      if (!existing.includes(name)) makings.push([name, (tx) => makePartition(tx, table, name, day)]);
    }
    const oldest = `${table}_${dayName(today - keptDays)}`;
    const old = existing.filter((name) => /_\d{8}$/.test(name) && name < oldest);
    const droppings = old.map((name): Change => [name, (tx) => dropPartition(tx, table, name)]);
    late.push(...(await inTurn(sql, makings, made)), ...(await inTurn(sql, droppings, dropped)));
    const limit = dateFromMs((today - keptDays) * DAY_MS);
    const isCounted = table === 'usage_event' ? sql`and xid < ${nextUncounted(sql)}` : sql``;
    await sql`delete from ${sql(`${table}_default`)} where created_at < ${limit} ${isCounted}`;
  }
  return { made, dropped, late };
}

/** The name of a partition, and what makes or drops it; false: there was nothing to do. */
type Change = readonly [name: string, change: (tx: TransactionSql) => Promise<boolean>];

/** SQLSTATE of what waited for its lock as long as it may. */
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Applies changes of one kind to one table. A transaction that blocks one change blocks all, and writers
 * queue behind each attempt: so after a timeout the remaining changes are postponed.
 *
 * @param done receives the names of the changed partitions.
 * @returns the name of the one that timed out, if any.
 */
async function inTurn(sql: Sql, changes: readonly Change[], done: string[]): Promise<string[]> {
  for (const [name, change] of changes) {
    try {
      if (await alone(sql, change)) done.push(name);
    } catch (error) {
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
      return [name];
    }
  }
  return [];
}

/** Runs one change in its own transaction: writers wait for one partition instead of all. */
function alone<T>(sql: Sql, change: (tx: TransactionSql) => Promise<T>) {
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCK})`;
    // Fails soon and is retried later: a partition change waits for every open transaction on its table.
    await tx`select set_config('lock_timeout', '2s', true)`;
    return change(tx);
  });
}

/** Position of the usage rollups: uncounted usage events are retained regardless of their age. */
const nextUncounted = (tx: Sql | TransactionSql) => tx`coalesce((select next_xid from rollup_state), '0')`;

/** Returns whether the partition was dropped. Another process may have done it, and usage events stay until counted. */
async function dropPartition(tx: TransactionSql, table: string, name: string): Promise<boolean> {
  if (!(await partitionsOf(tx, table)).includes(name)) return false;
  if (table === 'usage_event') {
    const rows = await tx`select 1 from ${tx(name)} where xid >= ${nextUncounted(tx)} limit 1`;
    if (rows.length > 0) return false;
  }
  await tx`drop table ${tx(name)}`;
  return true;
}

function dayOf(clock: Clock): number {
  return Math.floor(clock.ms() / DAY_MS);
}

function dayName(day: number): string {
  return dateFromMs(day * DAY_MS)
    .toISOString()
    .slice(0, 10)
    .replaceAll('-', '');
}

async function partitionsOf(tx: Sql | TransactionSql, table: string): Promise<string[]> {
  const rows = await tx<{ name: string }[]>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = ${table}::regclass`;
  return rows.map((row) => row.name);
}

/**
 * Fills the partition from the default one and attaches it: attaching locks less than creating in place, and
 * fails on rows of that day in the default partition.
 *
 * @returns whether it was made: another process may have.
 */
async function makePartition(tx: TransactionSql, table: string, name: string, day: number): Promise<boolean> {
  if ((await partitionsOf(tx, table)).includes(name)) return false;
  const from = dateFromMs(day * DAY_MS);
  const to = dateFromMs((day + 1) * DAY_MS);
  const fallback = `${table}_default`;
  await tx`lock table ${tx(fallback)} in access exclusive mode`;
  await tx`create table ${tx(name)} (like ${tx(table)} including all)`;
  if (table === 'event')
    await tx`alter table ${tx(name)} alter column type set (n_distinct = ${tx.unsafe(TYPES)})`;
  await tx`
    with moved as (
      delete from ${tx(fallback)} where created_at >= ${from} and created_at < ${to} returning *)
    insert into ${tx(name)} select * from moved`;
  const bounds = `from ('${from.toISOString()}') to ('${to.toISOString()}')`;
  await tx`alter table ${tx(table)} attach partition ${tx(name)} for values ${tx.unsafe(bounds)}`;
  return true;
}
