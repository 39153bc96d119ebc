import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { CUSTOM_PLAN } from '../../../platform/db/page.ts';
import {
  type CompactionStep,
  DAILY_ROLLUP_INTERVALS_MIN,
  ROLLUP_INTERVALS_MIN,
} from './rollup-intervals.rules.ts';

type Sql = RawBuilder<unknown>;

/** Retention has no rollups below a day to compact. */
const hasSeconds = ({ below }: CompactionStep) =>
  DAILY_ROLLUP_INTERVALS_MIN.some((length) => length === below);

const MEASURES = [
  ...['views', 'unique_viewers', 'watch_ms', 'impressions', 'plays', 'joins', 'leaves', 'chat_messages'],
  ...['new_followers', 'lost_followers', 'broadcasts', 'live_ms', 'viewer_samples_sum', 'viewer_samples'],
  'bitrate_kbit',
];

/** Rollup table: its key columns besides the time, and its measures. */
interface Table {
  name: string;
  key: readonly string[];
  summed: readonly string[];
  highest: readonly string[];
}

const TOTAL: Table = {
  name: 'analytics_total',
  key: ['workspace_id', 'subject_kind', 'subject_id', 'is_owner'],
  summed: MEASURES,
  highest: ['peak_viewers'],
};
const SHARE: Table = {
  name: 'analytics_breakdown',
  key: ['workspace_id', 'subject_kind', 'subject_id', 'dimension', 'value', 'is_owner'],
  summed: ['views', 'unique_viewers', 'watch_ms'],
  highest: [],
};

/** Builds missing rollups of this interval from the shorter ones. */
export async function compactRollups(tx: Tx, closing: CompactionStep): Promise<void> {
  await makeSums(tx, TOTAL, closing);
  await makeSums(tx, SHARE, closing);
  if (hasSeconds(closing)) await makeRetention(tx, closing);
}

async function makeSums(
  tx: Tx,
  { name, key, summed, highest }: Table,
  closing: CompactionStep,
): Promise<void> {
  const list = (names: readonly string[], of: (name: string) => Sql) => sql.join(names.map(of));
  await sql`
    ${CUSTOM_PLAN} insert into ${sql.table(name)} (interval_min, at,
      ${list([...key, ...highest, ...summed], (column) => sql.ref(column))})
    select ${sql.lit(closing.length)}, ${binOf(closing)}, ${list(key, (column) => sql.ref(column))},
      ${list(
        [...highest.map((column) => `max(${column})`), ...summed.map((column) => `sum(${column})::bigint`)],
        (aggregate) => sql.raw(aggregate),
      )}
    from ${sql.table(name)} where ${isBelow(closing)}
    group by 2, ${list(key, (column) => sql.ref(column))}
    order by 2, ${list(key, (column) => sql.ref(column))}`.execute(tx);
}

async function makeRetention(tx: Tx, closing: CompactionStep): Promise<void> {
  await sql`
    ${CUSTOM_PLAN} insert into analytics_retention (interval_min, at, workspace_id, video_id, is_owner, watch_counts)
    select ${sql.lit(closing.length)}, begins, workspace_id, video_id, is_owner, array_agg(times order by second)
    from (
      select ${binOf(closing)} as begins, workspace_id, video_id, is_owner, second, sum(times)::integer as times
      from analytics_retention, unnest(watch_counts) with ordinality one (times, second)
      where ${isBelow(closing)} group by 1, 2, 3, 4, 5) seconds
    group by 2, 3, 4, 5`.execute(tx);
}

/** Deletes the rollups that `compactRollups` builds. */
export async function deleteRollups(tx: Tx, closing: CompactionStep): Promise<void> {
  const { length, from, to } = closing;
  const tables = [
    'analytics_total',
    'analytics_breakdown',
    ...(hasSeconds(closing) ? ['analytics_retention'] : []),
  ];
  for (const table of tables)
    await sql`
      delete from ${sql.table(table)}
      where interval_min = ${sql.lit(length)} and at >= ${from} and at < ${to}`.execute(tx);
}

/** Deletes all rollups that `compactRollups` builds. */
export async function deleteAllCompactedRollups(tx: Tx): Promise<void> {
  for (const table of ['analytics_total', 'analytics_breakdown'] as const)
    await tx.deleteFrom(table).where('interval_min', '>', ROLLUP_INTERVALS_MIN[0]).execute();
  await tx
    .deleteFrom('analytics_retention')
    .where('interval_min', '>', DAILY_ROLLUP_INTERVALS_MIN[0])
    .execute();
}

const isBelow = ({ below, from, to }: CompactionStep) =>
  sql`interval_min = ${sql.lit(below)} and at >= ${from} and at < ${to}`;

const binOf = ({ length }: CompactionStep) =>
  sql`date_bin(make_interval(mins => ${sql.lit(length)}), at, 'epoch'::timestamptz)`;

/** Returns the start of the first quarter-hour with a rollup. */
export async function firstRollupAt(db: Db): Promise<Date | null> {
  const row = await db
    .selectFrom('analytics_total')
    .select('at')
    .where('interval_min', '=', 15)
    .orderBy('at')
    .limit(1)
    .executeTakeFirst();
  return row?.at ?? null;
}

export async function setCompactedUntil(tx: Tx, closedUntil: Date): Promise<void> {
  await tx.updateTable('rollup_state').set({ compacted_until: closedUntil }).execute();
}
