import type { Clock } from '../../../kernel/clock.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import {
  clippedBuckets,
  type Interval,
  parseDateRange,
  previousRange,
  type RangeQuery,
  type TimeRange,
} from '../../../kernel/date-range.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import { badRequest, notFound } from '../../../kernel/errors.ts';
import type { Db } from '../../../platform/db/index.ts';
import type {
  BreakdownRow,
  NamedSubject,
  RowsQuery,
  Subject,
  SubjectRow,
  ValueRow,
} from './reads.repository.ts';
import * as repository from './reads.repository.ts';
import {
  type DimensionFilter,
  EMPTY_TOTALS,
  type FilterQuery,
  type MetricTotals,
  parseDimensionFilter,
  totalOf,
} from './reads.rules.ts';

export type ReadQuery = RangeQuery &
  FilterQuery & {
    compare: 'PREVIOUS' | 'NONE';
    /** Whether sessions of the account itself are counted. */
    includeSelf: boolean;
  };

export type GeographyQuery = ReadQuery & { videoId?: string; streamId?: string };

/** Fields that every response begins with. */
export interface ReportHeader {
  range: TimeRange;
  generatedAt: Date;
  /** End of the time that is counted completely; null before the first run. */
  freshUntil: Date | null;
  /** End of compacted intervals. */
  closedUntil: Date | null;
}

export interface Series {
  head: ReportHeader;
  /** Filter by viewers with one property; null: all viewers. */
  share: DimensionFilter | null;
  totals: MetricTotals;
  /** Totals of the previous period, on request; null otherwise. */
  previous: MetricTotals | null;
  series: (MetricTotals & { date: string })[];
}

export interface AccountReport extends Series {
  topVideos: SubjectRow[];
  topStreams: SubjectRow[];
  breakdown: BreakdownRow[];
}

export interface SubjectReport extends Series {
  id: string;
  named: NamedSubject;
  breakdown: BreakdownRow[];
}

export interface VideoReport extends SubjectReport {
  /** Views per second, and the total views of the same UTC days. */
  retention: { watched: number[]; views: number };
}

/** Broadcast of a stream. */
export interface Session {
  id: string;
  startedAt: Date;
  endedAt: Date | null;
  peakViewers: number;
  uniqueViewers: number;
}

export interface StreamReport extends SubjectReport {
  sessions: Session[];
}

/** Rows with their report header. */
export interface Rows<R> {
  head: ReportHeader;
  share: DimensionFilter | null;
  rows: R[];
}

interface Content {
  workspaceId: string;
  kind: 'VIDEO' | 'STREAM';
}

interface OneContent {
  kind: 'VIDEO' | 'STREAM';
  id: string;
}

interface Deps {
  db: Db;
  clock: Clock;
  /** Lists the broadcasts that were live in a period, newest first. */
  sessions(workspaceId: string, streamId: string, span: Interval, most: number): Promise<Session[]>;
}

/**
 * Content analytics (docs/concepts/analytics.md). An ID of another workspace is NOT_FOUND; deleted content is
 * still reported.
 *
 * @throws {AppError} BAD_REQUEST, field `from`, `to`, `timezone`, `granularity` or a filter.
 */
export interface AnalyticsQueries {
  head(query: RangeQuery): Promise<ReportHeader>;
  /** Returns only the series and its totals, of the account or of one video or stream. */
  series(workspaceId: string, of: OneContent | null, query: ReadQuery): Promise<Series>;
  account(workspaceId: string, query: ReadQuery): Promise<AccountReport>;
  subjects(
    workspaceId: string,
    kind: 'VIDEO' | 'STREAM',
    query: ReadQuery,
    wanted: RowsQuery,
  ): Promise<Rows<SubjectRow>>;
  video(workspaceId: string, id: string, query: ReadQuery): Promise<VideoReport>;
  stream(workspaceId: string, id: string, query: ReadQuery): Promise<StreamReport>;
  /** Returns countries of all content, or of one video or stream. */
  geography(workspaceId: string, query: GeographyQuery, wanted: RowsQuery): Promise<Rows<ValueRow>>;
}

const TOP = 5;
const MOST_VALUES = 100;
const MOST_SESSIONS = 100;
const DIMENSIONS = {
  VIDEO: ['country', 'device', 'browser', 'os', 'referrer', 'quality', 'source'],
  STREAM: ['country', 'device', 'browser', 'os', 'referrer', 'source'],
  ACCOUNT: ['country', 'device', 'browser', 'os', 'referrer', 'source'],
} as const;

export function createAnalyticsQueries(deps: Deps): AnalyticsQueries {
  const { db, sessions } = deps;
  return {
    head: (query) => readHead(deps, query),
    subjects: async (workspaceId, kind, query, wanted) =>
      readRows(deps, { workspaceId, kind }, query, wanted, await readHead(deps, query)),
    geography: (workspaceId, query, wanted) => readCountries(deps, workspaceId, query, wanted),
    async series(workspaceId, of, query) {
      if (of !== null) await findNamed(db, { workspaceId, ...of });
      return readSeries(deps, { workspaceId, ...(of ?? ACCOUNT) }, query, await readHead(deps, query));
    },
    async account(workspaceId, query) {
      const top = { sort: 'views', take: TOP, after: null } as const;
      const account = { workspaceId, ...ACCOUNT };
      const head = await readHead(deps, query);
      const [report, videos, streams, breakdown] = await Promise.all([
        readSeries(deps, account, query, head),
        readRows(deps, { workspaceId, kind: 'VIDEO' }, query, top, head),
        readRows(deps, { workspaceId, kind: 'STREAM' }, query, top, head),
        readBreakdown(deps, account, head, query),
      ]);
      return { ...report, topVideos: videos.rows, topStreams: streams.rows, breakdown };
    },
    async video(workspaceId, id, query) {
      const subject = { workspaceId, kind: 'VIDEO', id } as const;
      const named = await findNamed(db, subject);
      const head = await readHead(deps, query);
      const days = touchedDays(head.range);
      const counted = { includeSelf: query.includeSelf, share: null, closedUntil: head.closedUntil };
      const [report, watched, [sums]] = await Promise.all([
        readSubject(deps, subject, query, head),
        repository.sumRetention(db, subject, days, counted),
        repository.sumByBucket(db, subject, [days], counted),
      ]);
      return { ...report, named, retention: { watched, views: sums?.views ?? 0 } };
    },
    async stream(workspaceId, id, query) {
      const subject = { workspaceId, kind: 'STREAM', id } as const;
      const named = await findNamed(db, subject);
      const head = await readHead(deps, query);
      const [report, broadcasts] = await Promise.all([
        readSubject(deps, subject, query, head),
        sessions(workspaceId, id, head.range, MOST_SESSIONS),
      ]);
      return { ...report, named, sessions: broadcasts };
    },
  };
}

const ACCOUNT = { kind: 'ACCOUNT', id: '' } as const;

async function readHead({ db, clock }: Deps, query: RangeQuery): Promise<ReportHeader> {
  const now = clock.ms();
  const range = parseDateRange(query, now);
  return { range, generatedAt: dateFromMs(now), ...(await repository.findProgress(db)) };
}

async function readSeries(
  deps: Deps,
  subject: Subject,
  query: ReadQuery,
  head: ReportHeader,
): Promise<Series> {
  const share = parseDimensionFilter(query);
  const { range, closedUntil } = head;
  const counted = { includeSelf: query.includeSelf, share, closedUntil };
  const read = (spans: readonly Interval[]) => repository.sumByBucket(deps.db, subject, spans, counted);
  const [pieces, [previous = null]] = await Promise.all([
    read(clippedBuckets(range)),
    query.compare === 'PREVIOUS' ? read([previousRange(range)]) : [],
  ]);
  const series = range.buckets.map(({ date }, piece) => ({ ...EMPTY_TOTALS, ...pieces[piece], date }));
  return { head, share, totals: totalOf(pieces), previous, series };
}

async function findNamed(db: Db, { workspaceId, kind, id }: Content & OneContent): Promise<NamedSubject> {
  const named = await repository.findSubject(db, workspaceId, kind, id);
  if (named === undefined) throw notFound();
  return named;
}

async function readSubject(deps: Deps, subject: Content & OneContent, query: ReadQuery, head: ReportHeader) {
  const [report, breakdown] = await Promise.all([
    readSeries(deps, subject, query, head),
    readBreakdown(deps, subject, head, query),
  ]);
  return { ...report, id: subject.id, breakdown };
}

function readBreakdown(
  { db }: Deps,
  subject: Subject,
  { range, closedUntil }: ReportHeader,
  { includeSelf }: ReadQuery,
) {
  const wanted = { dimensions: DIMENSIONS[subject.kind], most: MOST_VALUES };
  return repository.breakdownByDimensions(db, subject, wanted, range, { includeSelf, closedUntil });
}

async function readRows(
  deps: Deps,
  content: Content,
  query: ReadQuery,
  wanted: RowsQuery,
  head: ReportHeader,
): Promise<Rows<SubjectRow>> {
  const share = parseDimensionFilter(query);
  const counted = { includeSelf: query.includeSelf, share, closedUntil: head.closedUntil };
  return { head, share, rows: await repository.rankSubjects(deps.db, content, head.range, counted, wanted) };
}

async function readCountries(
  deps: Deps,
  workspaceId: string,
  { videoId, streamId, ...query }: GeographyQuery,
  wanted: RowsQuery,
): Promise<Rows<ValueRow>> {
  const share = parseDimensionFilter(query);
  if (share !== null && share.dimension !== 'country') {
    throw badRequest(`filter.${share.dimension}`, 'Only filter.country is supported here.');
  }
  if (videoId !== undefined && streamId !== undefined) {
    throw badRequest('streamId', 'Provide either videoId or streamId, not both.');
  }
  const subject = await placed(deps.db, workspaceId, videoId, streamId);
  const head = await readHead(deps, query);
  const counted = { includeSelf: query.includeSelf, share, closedUntil: head.closedUntil };
  const rows = await repository.breakdownByValue(deps.db, subject, 'country', head.range, counted, wanted);
  return { head, share, rows };
}

async function placed(db: Db, workspaceId: string, videoId?: string, streamId?: string): Promise<Subject> {
  const id = videoId ?? streamId;
  if (id === undefined) return { workspaceId, ...ACCOUNT };
  const subject = { workspaceId, kind: videoId === undefined ? 'STREAM' : 'VIDEO', id } as const;
  await findNamed(db, subject);
  return subject;
}

/** Returns the UTC days that overlap an interval. */
function touchedDays({ from, to }: Interval): Interval {
  return {
    from: dateFromMs(Math.floor(from.getTime() / DAY_MS) * DAY_MS),
    to: dateFromMs(Math.ceil(to.getTime() / DAY_MS) * DAY_MS),
  };
}
