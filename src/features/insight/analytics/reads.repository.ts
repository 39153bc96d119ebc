import { type RawBuilder, sql } from 'kysely';
import type { Interval } from '../../../kernel/date-range.ts';
import type { Db } from '../../../platform/db/index.ts';
import { CUSTOM_PLAN } from '../../../platform/db/page.ts';
import type { AnalyticsBreakdownDimension } from '../../../platform/db/tables.generated.ts';
import {
  type DimensionFilter,
  EMPTY_TOTALS,
  MEASURE_NAMES,
  type MetricTotals,
  type RankCursor,
} from './reads.rules.ts';
import { DAILY_ROLLUP_INTERVALS_MIN, planRollupScans, type RollupScan } from './rollup-intervals.rules.ts';

export type SubjectKind = 'ACCOUNT' | 'VIDEO' | 'STREAM';

/** Owner of rollups: for an account the ID is empty. */
export interface Subject {
  workspaceId: string;
  kind: SubjectKind;
  id: string;
}

/** Filter of views: own sessions of the account count only on request. */
interface Counted {
  includeSelf: boolean;
  share: DimensionFilter | null;
  /** End of compacted intervals, as returned by `findProgress`. */
  closedUntil: Date | null;
}

const WALKS = (walks: readonly RollupScan[]) => sql`unnest(
  ${walks.map(({ piece }) => piece)}::integer[], ${walks.map(({ length }) => length)}::integer[],
  ${walks.map(({ from }) => from.toISOString())}::timestamptz[],
  ${walks.map(({ to }) => to.toISOString())}::timestamptz[]) as walk (piece, length, begins, ends)`;

const IN_WALK = sql`interval_min = walk.length and at >= walk.begins and at < walk.ends`;

/** Column names of measures. */
const COLUMNS = {
  views: 'views',
  uniqueViewers: 'unique_viewers',
  watchMs: 'watch_ms',
  impressions: 'impressions',
  plays: 'plays',
  joins: 'joins',
  leaves: 'leaves',
  chatMessages: 'chat_messages',
  newFollowers: 'new_followers',
  lostFollowers: 'lost_followers',
  broadcasts: 'broadcasts',
  liveMs: 'live_ms',
  peakViewers: 'peak_viewers',
  viewerSamplesSum: 'viewer_samples_sum',
  viewerSamples: 'viewer_samples',
  bitrateKbit: 'bitrate_kbit',
} as const satisfies Record<keyof MetricTotals, string>;
type Measure = keyof MetricTotals;

/** Measures that are known per dimension value. */
const SHARED = ['views', 'uniqueViewers', 'watchMs'] as const satisfies Measure[];
const OF_KIND = {
  VIDEO: [...SHARED, 'impressions', 'plays'],
  STREAM: [
    ...SHARED,
    'broadcasts',
    'liveMs',
    'peakViewers',
    'viewerSamplesSum',
    'viewerSamples',
    'chatMessages',
  ],
} as const satisfies Record<string, Measure[]>;

const columnsOf = (measures: readonly Measure[]) => sql.join(measures.map((name) => sql.ref(COLUMNS[name])));

/** Returns the aggregates over the rows of all scans, `part`. */
const added = (measures: readonly Measure[]) =>
  sql.join(
    measures.map(
      (name) =>
        sql`${sql.raw(name === 'peakViewers' ? 'max' : 'sum')}(${sql.ref(`part.${COLUMNS[name]}`)})::bigint
          as ${sql.ref(name)}`,
    ),
  );

/** Prevents the planner from joining the scans, which would search all rows of a workspace. */
const APART = sql`offset 0`;

const own = (includeSelf: boolean) => sql`(not is_owner or ${includeSelf})`;

/** Returns the totals of each bucket. */
export async function sumByBucket(
  db: Db,
  { workspaceId, kind, id }: Subject,
  pieces: readonly Interval[],
  { includeSelf, share, closedUntil }: Counted,
): Promise<MetricTotals[]> {
  const measures = share === null ? MEASURE_NAMES : SHARED;
  const source =
    share === null
      ? sql`analytics_total where true`
      : sql`analytics_breakdown where dimension = ${share.dimension} and value = ${share.value}`;
  const { rows } = await sql<Partial<MetricTotals> & { piece: number }>`
    ${CUSTOM_PLAN} select walk.piece, ${added(measures)} from ${WALKS(planRollupScans(pieces, closedUntil))}, lateral (
      select ${columnsOf(measures)} from ${source} and workspace_id = ${workspaceId} and subject_kind = ${kind}
        and subject_id = ${id} and ${IN_WALK} and ${own(includeSelf)} ${APART}) part
    group by walk.piece`.execute(db);
  const found = new Map(rows.map(({ piece, ...sums }) => [piece, sums]));
  return pieces.map((_, piece) => ({ ...EMPTY_TOTALS, ...found.get(piece) }));
}

/** Video or stream with its totals in a period. */
export type SubjectRow = MetricTotals & {
  id: string;
  /** Sort key of the rows. */
  rank: number;
  title: string | null;
  publishedAt: Date | null;
  deletedAt: Date | null;
  durationSec: number | null;
};

export type Sort = 'views' | 'watchTimeSec' | 'liveMinutes' | 'publishedAt';
const RANKS = {
  views: sql`"views"`,
  watchTimeSec: sql`"watchMs"`,
  liveMinutes: sql`"liveMs"`,
  publishedAt: sql`coalesce(floor(extract(epoch from "publishedAt") * 1000), 0)::bigint`,
} as const satisfies Record<Sort, RawBuilder<unknown>>;

const NAMES = {
  VIDEO: sql`left join video named on named.id = counted.id and named.workspace_id =`,
  STREAM: sql`left join stream named on named.id = counted.id and named.workspace_id =`,
};
const NAMED = {
  VIDEO: sql`named.title, named.published_at as "publishedAt", named.deleted_at as "deletedAt", named.duration_sec as "durationSec"`,
  STREAM: sql`named.title, null::timestamptz as "publishedAt", named.deleted_at as "deletedAt", null::float8 as "durationSec"`,
};

export interface RowsQuery {
  sort: Sort;
  take: number;
  after: RankCursor | null;
}

/** Ranks the videos or streams with any activity in a period. */
export async function rankSubjects(
  db: Db,
  { workspaceId, kind }: { workspaceId: string; kind: 'VIDEO' | 'STREAM' },
  span: Interval,
  { includeSelf, share, closedUntil }: Counted,
  { sort, take, after }: RowsQuery,
): Promise<SubjectRow[]> {
  const measures = share === null ? OF_KIND[kind] : SHARED;
  const rank = share !== null && sort === 'liveMinutes' ? RANKS.views : RANKS[sort];
  const { rows } = await sql<SubjectRow>`
    ${CUSTOM_PLAN} with counted as (
      select part.subject_id as "id", ${added(measures)} from ${WALKS(planRollupScans([span], closedUntil))}, lateral (
        select subject_id, ${columnsOf(measures)} from ${share === null ? sql`analytics_total` : sharesOf(share)}
        where workspace_id = ${workspaceId} and subject_kind = ${kind} and ${IN_WALK} and ${own(includeSelf)}
        ${APART}) part
      group by 1),
    named_rows as (select counted.*, ${NAMED[kind]} from counted ${NAMES[kind]} ${workspaceId}),
    ranked as (select *, ${rank} as rank from named_rows)
    select * from ranked where ${behind(after)} order by rank desc, "id" desc limit ${take}`.execute(db);
  return rows.map((row) => ({ ...EMPTY_TOTALS, ...row }));
}

/**
 * Joined through the totals: every share has a total in its interval, and their index begins with the time.
 */
const sharesOf = ({ dimension, value }: DimensionFilter) => sql`(
  select total.workspace_id, total.subject_kind, total.subject_id, total.interval_min, total.at, total.is_owner,
    part.views, part.unique_viewers, part.watch_ms
  from analytics_total total join analytics_breakdown part
    using (workspace_id, subject_kind, subject_id, interval_min, at, is_owner)
  where part.dimension = ${dimension} and part.value = ${value}) shared`;

const behind = (after: RankCursor | null) =>
  after === null ? sql`true` : sql`(rank, "id") < (${after.rank}::bigint, ${after.id})`;

interface ShareSums {
  views: number;
  uniqueViewers: number;
  watchMs: number;
}

export interface ValueRow extends ShareSums {
  id: string;
  rank: number;
  /** Views of all values. */
  allViews: number;
}

/** Returns the values of one dimension. */
export async function breakdownByValue(
  db: Db,
  { workspaceId, kind, id }: Subject,
  dimension: AnalyticsBreakdownDimension,
  span: Interval,
  { includeSelf, share, closedUntil }: Counted,
  { sort, take, after }: RowsQuery,
): Promise<ValueRow[]> {
  // Filtered after the sum of all values, because one value is reported as its share of that.
  const only = share === null ? sql`true` : sql`"id" = ${share.value}`;
  const { rows } = await sql<ValueRow>`
    ${CUSTOM_PLAN} with counted as (
      select part.value as "id", ${added(SHARED)} from ${WALKS(planRollupScans([span], closedUntil))}, lateral (
        select value, ${columnsOf(SHARED)} from analytics_breakdown where workspace_id = ${workspaceId}
          and subject_kind = ${kind} and subject_id = ${id} and dimension = ${dimension} and ${IN_WALK}
          and ${own(includeSelf)} ${APART}) part
      group by 1),
    ranked as (select *, ${RANKS[sort]} as rank, (sum("views") over ())::bigint as "allViews" from counted)
    select * from ranked where ${only} and ${behind(after)} order by rank desc, "id" desc limit ${take}`.execute(
    db,
  );
  return rows;
}

export interface BreakdownRow extends ShareSums {
  dimension: AnalyticsBreakdownDimension;
  value: string;
}

/** Returns the values of each dimension, by views. @param wanted.most maximum values per dimension. */
export async function breakdownByDimensions(
  db: Db,
  { workspaceId, kind, id }: Subject,
  { dimensions, most }: { dimensions: readonly AnalyticsBreakdownDimension[]; most: number },
  span: Interval,
  { includeSelf, closedUntil }: Omit<Counted, 'share'>,
): Promise<BreakdownRow[]> {
  const { rows } = await sql<BreakdownRow>`
    ${CUSTOM_PLAN} with counted as (
      select part.dimension, part.value, ${added(SHARED)}
      from ${WALKS(planRollupScans([span], closedUntil))}, unnest(${[...dimensions]}::text[]) as wanted (name), lateral (
        select dimension, value, ${columnsOf(SHARED)} from analytics_breakdown where workspace_id = ${workspaceId}
          and subject_kind = ${kind} and subject_id = ${id} and dimension = wanted.name and ${IN_WALK}
          and ${own(includeSelf)} ${APART}) part
      group by 1, 2),
    ranked as (select *, row_number() over (partition by dimension order by "views" desc, "watchMs" desc, value)
      as place from counted)
    select dimension, value, "views", "uniqueViewers", "watchMs" from ranked where place <= ${most}
    order by dimension, place`.execute(db);
  return rows;
}

/** Returns how often each second of a video was watched on these UTC days. */
export async function sumRetention(
  db: Db,
  { workspaceId, id }: Subject,
  days: Interval,
  { includeSelf, closedUntil }: Omit<Counted, 'share'>,
): Promise<number[]> {
  const { rows } = await sql<{ watched: number }>`
    ${CUSTOM_PLAN} select sum(second.watched)::bigint as watched
    from ${WALKS(planRollupScans([days], closedUntil, DAILY_ROLLUP_INTERVALS_MIN))}, analytics_retention,
      unnest(watch_counts) with ordinality as second (watched, position)
    where workspace_id = ${workspaceId} and video_id = ${id} and ${IN_WALK} and ${own(includeSelf)}
    group by second.position order by second.position`.execute(db);
  return rows.map(({ watched }) => watched);
}

export interface NamedSubject {
  title: string;
  durationSec: number | null;
  publishedAt: Date | null;
  deletedAt: Date | null;
}

/** Finds a video or stream, including deleted ones. */
export async function findSubject(
  db: Db,
  workspaceId: string,
  kind: 'VIDEO' | 'STREAM',
  id: string,
): Promise<NamedSubject | undefined> {
  const source = kind === 'VIDEO' ? sql`from video named` : sql`from stream named`;
  const { rows } = await sql<NamedSubject>`
    select ${NAMED[kind]} ${source} where named.workspace_id = ${workspaceId} and named.id = ${id}`.execute(
    db,
  );
  return rows[0];
}

export interface Progress {
  /** End of the time that is counted completely; null before the first run. */
  freshUntil: Date | null;
  /** End of compacted intervals; null: none. */
  closedUntil: Date | null;
}

/**
 * Returns the progress of rollups and compaction. Read it before the rollups: compacted intervals stay
 * compacted.
 */
export async function findProgress(db: Db): Promise<Progress> {
  const row = await db
    .selectFrom('rollup_state')
    .select(['fresh_until as freshUntil', 'compacted_until as closedUntil'])
    .executeTakeFirst();
  return row ?? { freshUntil: null, closedUntil: null };
}
