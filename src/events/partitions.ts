import type { Sql, TransactionSql } from 'postgres';
import { type Clock, dateFromMs } from '../kernel/clock.ts';
import { DAY_MS } from '../kernel/durations.ts';
import type { Config } from '../platform/config.ts';

const TABLES = [
  // docs/decisions/events-and-deliveries.md#the-event-log
  { table: 'event', keptDays: 30 },
  { table: 'delivery_log', keptDays: 30 },
  // docs/decisions/request-log.md
  { table: 'request_log', keptDays: 7 },
] as const;

/** What the operator says of how long tables are kept. */
export type KeptDays = Pick<Config, 'ANALYTICS_RAW_DAYS'>;

function tablesOf({ ANALYTICS_RAW_DAYS: factDays }: KeptDays) {
  // docs/decisions/analytics.md#facts
  return [...TABLES, { table: 'fact', keptDays: factDays }];
}
const DAYS_AHEAD = 3;
/** Any constant: one process at a time changes partitions. */
const LOCK = 7_220_413;

/**
 * Makes the day partitions of today and the next three days, and drops those that are older than their table is
 * kept. Safe to run at any time from any number of processes.
 *
 * @returns the names of the partitions made and dropped now.
 */
export async function maintainPartitions(
  sql: Sql,
  clock: Clock,
  kept: KeptDays,
): Promise<{ made: string[]; dropped: string[] }> {
  const today = Math.floor(clock.ms() / DAY_MS);
  const made: string[] = [];
  const dropped: string[] = [];
  for (const { table, keptDays } of tablesOf(kept)) {
    const existing = await partitionsOf(sql, table);
    for (let day = today; day <= today + DAYS_AHEAD; day++) {
      const name = `${table}_${dayName(day)}`;
      if (!existing.includes(name) && (await alone(sql, (tx) => makePartition(tx, table, name, day)))) {
        made.push(name);
      }
    }
    const oldest = `${table}_${dayName(today - keptDays)}`;
    for (const name of existing.filter((one) => /_\d{8}$/.test(one) && one < oldest)) {
      if (await alone(sql, (tx) => dropPartition(tx, table, name))) dropped.push(name);
    }
    const limit = dateFromMs((today - keptDays) * DAY_MS);
    const isCounted = table === 'fact' ? sql`and xid < ${nextUncounted(sql)}` : sql``;
    await sql`delete from ${sql(`${table}_default`)} where created_at < ${limit} ${isCounted}`;
  }
  return { made, dropped };
}

/** One change in a transaction of its own: whoever writes waits for one partition, and not for all. */
function alone<T>(sql: Sql, change: (tx: TransactionSql) => Promise<T>) {
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCK})`;
    // Rather later than in the way: a partition change waits for every open transaction on its table.
    await tx`select set_config('lock_timeout', '2s', true)`;
    return change(tx);
  });
}

/** Where the sums of facts are: what they have not counted stays, however old it is. */
const nextUncounted = (tx: Sql | TransactionSql) => tx`coalesce((select next_xid from fact_sum_state), '0')`;

/** @returns whether it was dropped: another process may have, and facts stay until they are counted. */
async function dropPartition(tx: TransactionSql, table: string, name: string): Promise<boolean> {
  if (!(await partitionsOf(tx, table)).includes(name)) return false;
  if (table === 'fact') {
    const rows = await tx`select 1 from ${tx(name)} where xid >= ${nextUncounted(tx)} limit 1`;
    if (rows.length > 0) return false;
  }
  await tx`drop table ${tx(name)}`;
  return true;
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
  await tx`
    with moved as (
      delete from ${tx(fallback)} where created_at >= ${from} and created_at < ${to} returning *)
    insert into ${tx(name)} select * from moved`;
  const bounds = `from ('${from.toISOString()}') to ('${to.toISOString()}')`;
  await tx`alter table ${tx(table)} attach partition ${tx(name)} for values ${tx.unsafe(bounds)}`;
  return true;
}
