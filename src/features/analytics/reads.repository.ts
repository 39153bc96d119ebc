import { type RawBuilder, sql } from 'kysely';
import type { Span } from '../../kernel/time-range.ts';
import type { Db } from '../../platform/db/index.ts';
import { plannedWithValues } from '../../platform/db/page.ts';
import type { AnalyticsBreakdownDimension } from '../../platform/db/tables.generated.ts';
import { MEASURE_NAMES, NOTHING, type Place, type Share, type Sums } from './reads.rules.ts';
import { DAY_LENGTHS, type Walk, walksOf } from './spans.rules.ts';

export type SubjectKind = 'ACCOUNT' | 'VIDEO' | 'STREAM';

/** Whose sums: of the account the id is empty. */
export interface Subject {
  workspaceId: string;
  kind: SubjectKind;
  id: string;
}

/** Whose views count: those of the account's own sessions only where they are asked for. */
interface Counted {
  includeSelf: boolean;
  share: Share | null;
  /** As `findProgress` has it: up to when there are longer spans. */
  closedUntil: Date | null;
}

const WALKS = (walks: readonly Walk[]) => sql`unnest(
  ${walks.map(({ piece }) => piece)}::integer[], ${walks.map(({ length }) => length)}::integer[],
  ${walks.map(({ from }) => from.toISOString())}::timestamptz[],
  ${walks.map(({ to }) => to.toISOString())}::timestamptz[]) as walk (piece, length, begins, ends)`;

const IN_WALK = sql`interval_min = walk.length and at >= walk.begins and at < walk.ends`;

/** The columns of the sums. */
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
} as const satisfies Record<keyof Sums, string>;
type Measure = keyof Sums;

/** What is known of viewers by what they have in common. */
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

/** Of the rows of all walks, `part`. */
const added = (measures: readonly Measure[]) =>
  sql.join(
    measures.map(
      (name) =>
        sql`${sql.raw(name === 'peakViewers' ? 'max' : 'sum')}(${sql.ref(`part.${COLUMNS[name]}`)})::bigint
          as ${sql.ref(name)}`,
    ),
  );

/** The rows of one walk after the other: joined, they would be looked for in all that a workspace has. */
const APART = sql`offset 0`;

const own = (includeSelf: boolean) => sql`(not is_owner or ${includeSelf})`;

/** What each piece has. */
export async function sumPieces(
  db: Db,
  { workspaceId, kind, id }: Subject,
  pieces: readonly Span[],
  { includeSelf, share, closedUntil }: Counted,
): Promise<Sums[]> {
  const measures = share === null ? MEASURE_NAMES : SHARED;
  const source =
    share === null
      ? sql`analytics_total where true`
      : sql`analytics_breakdown where dimension = ${share.dimension} and value = ${share.value}`;
  const { rows } = await sql<Partial<Sums> & { piece: number }>`
    ${plannedWithValues} select walk.piece, ${added(measures)} from ${WALKS(walksOf(pieces, closedUntil))}, lateral (
      select ${columnsOf(measures)} from ${source} and workspace_id = ${workspaceId} and subject_kind = ${kind}
        and subject_id = ${id} and ${IN_WALK} and ${own(includeSelf)} ${APART}) part
    group by walk.piece`.execute(db);
  const found = new Map(rows.map(({ piece, ...sums }) => [piece, sums]));
  return pieces.map((_, piece) => ({ ...NOTHING, ...found.get(piece) }));
}

/** A video or stream, and what it has of a span. */
export type SubjectRow = Sums & {
  id: string;
  /** What the rows are in order of. */
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

export interface RowsWanted {
  sort: Sort;
  take: number;
  after: Place | null;
}

/** The videos or streams of which something was counted in a span. */
export async function sumSubjects(
  db: Db,
  { workspaceId, kind }: { workspaceId: string; kind: 'VIDEO' | 'STREAM' },
  span: Span,
  { includeSelf, share, closedUntil }: Counted,
  { sort, take, after }: RowsWanted,
): Promise<SubjectRow[]> {
  const measures = share === null ? OF_KIND[kind] : SHARED;
  const rank = share !== null && sort === 'liveMinutes' ? RANKS.views : RANKS[sort];
  const { rows } = await sql<SubjectRow>`
    ${plannedWithValues} with counted as (
      select part.subject_id as "id", ${added(measures)} from ${WALKS(walksOf([span], closedUntil))}, lateral (
        select subject_id, ${columnsOf(measures)} from ${share === null ? sql`analytics_total` : sharesOf(share)}
        where workspace_id = ${workspaceId} and subject_kind = ${kind} and ${IN_WALK} and ${own(includeSelf)}
        ${APART}) part
      group by 1),
    named_rows as (select counted.*, ${NAMED[kind]} from counted ${NAMES[kind]} ${workspaceId}),
    ranked as (select *, ${rank} as rank from named_rows)
    select * from ranked where ${behind(after)} order by rank desc, "id" desc limit ${take}`.execute(db);
  return rows.map((row) => ({ ...NOTHING, ...row }));
}

/** Found by the totals beside them: what has a share of a span has a total, and the index of those has the time first. */
const sharesOf = ({ dimension, value }: Share) => sql`(
  select total.workspace_id, total.subject_kind, total.subject_id, total.interval_min, total.at, total.is_owner,
    part.views, part.unique_viewers, part.watch_ms
  from analytics_total total join analytics_breakdown part
    using (workspace_id, subject_kind, subject_id, interval_min, at, is_owner)
  where part.dimension = ${dimension} and part.value = ${value}) shared`;

const behind = (after: Place | null) =>
  after === null ? sql`true` : sql`(rank, "id") < (${after.rank}::bigint, ${after.id})`;

interface ShareSums {
  views: number;
  uniqueViewers: number;
  watchMs: number;
}

export interface ValueRow extends ShareSums {
  id: string;
  rank: number;
  /** Of all values. */
  allViews: number;
}

/** The values of one dimension. */
export async function sumValues(
  db: Db,
  { workspaceId, kind, id }: Subject,
  dimension: AnalyticsBreakdownDimension,
  span: Span,
  { includeSelf, share, closedUntil }: Counted,
  { sort, take, after }: RowsWanted,
): Promise<ValueRow[]> {
  // Behind the sum of all values: what is asked for of one value is its part of that.
  const only = share === null ? sql`true` : sql`"id" = ${share.value}`;
  const { rows } = await sql<ValueRow>`
    ${plannedWithValues} with counted as (
      select part.value as "id", ${added(SHARED)} from ${WALKS(walksOf([span], closedUntil))}, lateral (
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

/** The values of each of these dimensions, those with the most views first. @param wanted.most of each. */
export async function sumDimensions(
  db: Db,
  { workspaceId, kind, id }: Subject,
  { dimensions, most }: { dimensions: readonly AnalyticsBreakdownDimension[]; most: number },
  span: Span,
  { includeSelf, closedUntil }: Omit<Counted, 'share'>,
): Promise<BreakdownRow[]> {
  const { rows } = await sql<BreakdownRow>`
    ${plannedWithValues} with counted as (
      select part.dimension, part.value, ${added(SHARED)}
      from ${WALKS(walksOf([span], closedUntil))}, unnest(${[...dimensions]}::text[]) as wanted (name), lateral (
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

/** How often each second of a video was watched on these UTC days. */
export async function sumRetention(
  db: Db,
  { workspaceId, id }: Subject,
  days: Span,
  { includeSelf, closedUntil }: Omit<Counted, 'share'>,
): Promise<number[]> {
  const { rows } = await sql<{ watched: number }>`
    ${plannedWithValues} select sum(second.watched)::bigint as watched
    from ${WALKS(walksOf([days], closedUntil, DAY_LENGTHS))}, analytics_retention,
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

/** One that was deleted, too. */
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
  /** Up to when everything is counted; null before the first time. */
  freshUntil: Date | null;
  /** Longer spans that end until then are there; null: none. */
  closedUntil: Date | null;
}

/** To be read before the sums: what is closed stays so. */
export async function findProgress(db: Db): Promise<Progress> {
  const row = await db
    .selectFrom('rollup_state')
    .select(['fresh_until as freshUntil', 'compacted_until as closedUntil'])
    .executeTakeFirst();
  return row ?? { freshUntil: null, closedUntil: null };
}
