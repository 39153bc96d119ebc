import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { CUSTOM_PLAN } from '../../../platform/db/page.ts';
import type { RollupScope } from './beacons.repository.ts';

/** Visible transactions of this database at one moment. */
export interface TransactionHorizon {
  /** Transaction ID below which every transaction that can have written usage events has ended. */
  ended: string;
  /** Transaction ID from which none had begun. */
  begun: string;
  /** Whether usage events exist of transactions that ended before an older one. */
  hasMore: boolean;
}

type Ended = Omit<TransactionHorizon, 'hasMore'>;

/** Expression that extends a 32-bit transaction ID to 64 bits: it is not above `x`, and not far below. */
const WHOLE = sql`case when low > x % (1::bigint << 32) then x - x % (1::bigint << 32) + low - (1::bigint << 32)
  else x - x % (1::bigint << 32) + low end`;

/**
 * Returns below which ID all transactions of this database have ended. A server snapshot includes the
 * transactions of all databases, any of which may be long. So this reads the ones of this database after the
 * snapshot: every later statement sees transactions that have ended by then. A role that cannot see those of
 * other roles falls back to the snapshot.
 */
async function readEnded(tx: Tx): Promise<Ended> {
  const { rows } = await sql<Ended>`
    with
    seen as materialized (
      select pg_snapshot_xmin(now)::text::bigint as oldest, pg_snapshot_xmax(now)::text::bigint as x
      from pg_current_snapshot() now),
    running as materialized (
      select backend_xid::text::bigint as low, usesysid <> current_user::regrole
        and not pg_has_role('pg_read_all_stats', 'USAGE') as is_hidden
      from pg_stat_activity where datname = current_database()
        and (backend_type is null or backend_type = 'client backend')
      union all
      select transaction::text::bigint, false from pg_prepared_xacts where database = current_database())
    select (case when coalesce(bool_or(is_hidden), false) then oldest else least(x, min(${WHOLE})) end)::text as ended,
      x::text as begun
    from seen left join running on true group by x, oldest`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error('the database has no snapshot');
  return row;
}

export function readTransactionHorizon(db: Db): Promise<TransactionHorizon> {
  return db.transaction().execute(async (tx) => {
    await setPlannerOptions(tx);
    const ended = await readEnded(tx);
    const { rows } = await sql`
      ${CUSTOM_PLAN} select 1 from usage_event where xid >= ${ended.ended}::xid8 limit 1`.execute(tx);
    return { ...ended, hasMore: rows.length > 0 };
  });
}

export async function insertState(db: Db): Promise<void> {
  await sql`insert into rollup_state (next_xid, fresh_until) values ('0', 'epoch') on conflict do nothing`.execute(
    db,
  );
}

/** Sets planner options for queries on usage events, whose tables grow faster than their statistics. */
export async function setPlannerOptions(tx: Tx): Promise<void> {
  await sql`
    select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true),
      set_config('work_mem', '64MB', true)`.execute(tx);
}

export interface State {
  nextXid: string;
  /** End of compacted intervals; null before the first. */
  closedUntil: Date | null;
}

/** @returns the progress of the rollups, or undefined while another process adds to them. */
export function lockState(tx: Tx, whenTaken: 'skip' | 'wait'): Promise<State | undefined> {
  const query = tx
    .selectFrom('rollup_state')
    .select(['next_xid as nextXid', 'compacted_until as closedUntil'])
    .forNoKeyUpdate();
  return (whenTaken === 'skip' ? query.skipLocked() : query).executeTakeFirst();
}

/** Next usage events in order of their transactions, which are never split. */
export interface Chunk {
  facts: number;
  /** Last transaction ID; null when there is none. */
  lastXid: string | null;
  from: Date;
  to: Date;
}

export async function findChunk(tx: Tx, fromXid: string, belowXid: string, most: number): Promise<Chunk> {
  const { rows } = await sql<Chunk>`
    ${CUSTOM_PLAN} select count(*) as facts, max(xid) as "lastXid",
      coalesce(min(created_at), 'epoch') as "from", coalesce(max(created_at), 'epoch') as "to"
    from usage_event where xid >= ${fromXid}::xid8 and xid <= (
      select max(xid) from (select xid from usage_event where xid >= ${fromXid}::xid8 and xid < ${belowXid}::xid8
        order by xid limit ${most}) one)`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error('an aggregate has a row');
  return row;
}

export async function advanceState(tx: Tx, nextXid: string): Promise<void> {
  await tx.updateTable('rollup_state').set({ next_xid: nextXid }).execute();
}

/** Resets the progress, so that every usage event with a transaction is counted. */
export async function resetState(tx: Tx): Promise<void> {
  await tx
    .updateTable('rollup_state')
    .set({ next_xid: '1', pending_xid: null, pending_fresh_until: null })
    .execute();
}

/**
 * Stores that all transactions below this horizon are counted. Those that ended after an older running one
 * are not, so freshness waits for a mark: an earlier moment whose transactions have all ended.
 */
export async function setFreshUntil(
  tx: Tx,
  { ended, begun, hasMore }: TransactionHorizon,
  at: Date,
): Promise<void> {
  await sql`
    update rollup_state set
      fresh_until = greatest(fresh_until, case when not ${hasMore}::boolean then ${at}::timestamptz
        when pending_xid <= ${ended}::xid8 then pending_fresh_until end),
      pending_xid = case when pending_xid > ${ended}::xid8 then pending_xid else ${begun}::xid8 end,
      pending_fresh_until = case when pending_xid > ${ended}::xid8 then pending_fresh_until else ${at}::timestamptz end
    where next_xid >= ${ended}::xid8`.execute(tx);
}

/** Deletes the unique viewers of days that receive no more usage events. */
export async function deleteOldUniqueViewers(db: Db, before: Date): Promise<void> {
  await db.deleteFrom('analytics_unique_viewer').where('at', '<', before).execute();
}

/** Deletes the rollups of these days; longer intervals are rebuilt with `compactRollups`. */
export async function deleteSums(tx: Tx, { days: { from, to } }: Pick<RollupScope, 'days'>): Promise<void> {
  for (const table of [
    'analytics_total',
    'analytics_breakdown',
    'usage_total',
    'analytics_retention',
  ] as const)
    await sql`
      delete from ${sql.table(table)} where interval_min in (15, 1440) and at >= ${from} and at < ${to}`.execute(
      tx,
    );
  for (const table of ['analytics_unique_viewer', 'usage_request'] as const)
    await tx.deleteFrom(table).where('at', '>=', from).where('at', '<', to).execute();
}

/**
 * Returns the UTC days, as `YYYY-MM-DD`, that have rollups but whose partition of usage events was dropped.
 */
export async function daysWithoutUsageEvents(db: Db, from: Date, to: Date): Promise<string[]> {
  const { rows } = await sql<{ day: string }>`
    select to_char(day at time zone 'UTC', 'YYYY-MM-DD') as day
    from generate_series(${from}::timestamptz, ${to}::timestamptz - interval '24 hours', interval '24 hours') day
    where to_regclass('usage_event_' || to_char(day at time zone 'UTC', 'YYYYMMDD')) is null
      and (exists (select from analytics_total where at >= day and at < day + interval '24 hours' and interval_min = 15)
        or exists (select from usage_total where at = day and interval_min = 1440))
      and not exists (select from usage_event where created_at >= day and created_at < day + interval '24 hours')
    order by 1`.execute(db);
  return rows.map(({ day }) => day);
}
