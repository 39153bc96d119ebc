import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { CUSTOM_PLAN } from '../../../platform/db/page.ts';
import type { RollupScope } from './beacons.repository.ts';

/** What can be seen of the transactions of this database at one moment. */
export interface TransactionHorizon {
  /** Every transaction below this one has ended, as far as it can have written facts. */
  ended: string;
  /** No transaction from here on had begun. */
  begun: string;
  /** There are facts of transactions that ended before an older one. */
  hasMore: boolean;
}

type Ended = Omit<TransactionHorizon, 'hasMore'>;

/** A number of 32 bits as a whole one: it is not above `x`, and not far below. */
const WHOLE = sql`case when low > x % (1::bigint << 32) then x - x % (1::bigint << 32) + low - (1::bigint << 32)
  else x - x % (1::bigint << 32) + low end`;

/**
 * The snapshot of the database server has the transactions of all its databases, the longest of which may be anybody's.
 * So it is asked which ones run in this one, after the snapshot: whatever has ended since is seen by every later
 * statement. Where the role may not see those of others, the snapshot's decide.
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

/** For statements over facts: their tables grow faster than what the planner knows of them. */
export async function setPlannerOptions(tx: Tx): Promise<void> {
  await sql`
    select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true),
      set_config('work_mem', '64MB', true)`.execute(tx);
}

export interface State {
  nextXid: string;
  /** Spans that end until then are made; null before the first are. */
  closedUntil: Date | null;
}

/** @returns where the sums are, or undefined while another process adds to them. */
export function lockState(tx: Tx, whenTaken: 'skip' | 'wait'): Promise<State | undefined> {
  const query = tx
    .selectFrom('rollup_state')
    .select(['next_xid as nextXid', 'compacted_until as closedUntil'])
    .forNoKeyUpdate();
  return (whenTaken === 'skip' ? query.skipLocked() : query).executeTakeFirst();
}

/** The next facts in order of their transactions, which are taken whole. */
export interface Chunk {
  facts: number;
  /** The last of them; null where there are none. */
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

/** Every fact of a transaction is to be counted. */
export async function resetState(tx: Tx): Promise<void> {
  await tx
    .updateTable('rollup_state')
    .set({ next_xid: '1', pending_xid: null, pending_fresh_until: null })
    .execute();
}

/**
 * All is counted that this horizon saw as ended. What ended after an older transaction is not, so freshness then
 * waits for a mark: an earlier moment, all of whose transactions have ended since.
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

/** Forgets who was seen on days of which no fact comes any more. */
export async function deleteOldUniqueViewers(db: Db, before: Date): Promise<void> {
  await db.deleteFrom('analytics_unique_viewer').where('at', '<', before).execute();
}

/** Of these days everything goes that is made of facts; longer spans are made anew with `makeSpans`. */
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

/** Of these UTC days, those that have sums and whose partition of facts is gone. @returns as `YYYY-MM-DD`. */
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
