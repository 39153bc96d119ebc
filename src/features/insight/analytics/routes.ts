import type { TSchema } from 'typebox';
import { anyKey, requiresGate } from '../../../http/access.ts';
import type { CsvRows } from '../../../http/csv.ts';
import { ListReader } from '../../../http/pagination.ts';
import { defineRoute, type Route, type RouteOptions } from '../../../http/route.ts';
import { IdParams } from '../../../http/schema.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import {
  FinanceQuery,
  StatsOut,
  SUMMARY_METRICS,
  SummaryOut,
  toStats,
  toSummary,
} from './finance.schemas.ts';
import type { FinanceAnalytics } from './finance.service.ts';
import * as answers from './presenter.ts';
import type { RowsQuery, Sort } from './reads.repository.ts';
import { formatRankCursor, parseRankCursor } from './reads.rules.ts';
import type { AnalyticsQueries, Rows } from './reads.service.ts';
import * as shapes from './schemas.ts';

interface Deps {
  reads: AnalyticsQueries;
  finance: FinanceAnalytics;
  cursors: CursorCodec;
}

const AS_CSV = 'With `Accept: text/csv`, returns the series.';

/** `/analytics/*`, `/account/analytics` (docs/concepts/analytics.md). */
export function analyticsRoutes(deps: Deps): Route[] {
  return [...accountRoutes(deps), ...listRoutes(deps), ...subjectRoutes(deps), ...financeRoutes(deps)];
}

const ACCOUNT_COLUMNS = [
  'date',
  'views',
  'uniqueViewers',
  'watchTimeSec',
  'newFollowers',
  'liveMinutes',
] as const;

function accountRoutes({ reads }: Deps): Route[] {
  const paths = [
    { operationId: 'analytics.ofAccount', path: '/account/analytics' },
    { operationId: 'analytics.account', path: '/analytics/account' },
  ];
  return paths.map((named) =>
    defineRoute({
      ...anyKey,
      ...named,
      method: 'GET',
      summary: 'Get account analytics (alias)',
      description: `Includes periods without activity. \`/account/analytics\` and \`/analytics/account\` are equivalent. ${AS_CSV}`,
      query: shapes.SeriesQuery,
      reply: { status: 200, schema: shapes.AccountAnalytics, csv: ACCOUNT_COLUMNS },
      async handler({ caller, acceptsCsv }, { query }) {
        const { workspaceId } = caller;
        return acceptsCsv
          ? table(ACCOUNT_COLUMNS, answers.accountBuckets(await reads.series(workspaceId, null, query)))
          : answers.toAccount(await reads.account(workspaceId, query));
      },
    }),
  );
}

const VIDEO_COLUMNS = [
  'videoId',
  'title',
  'publishedAt',
  'views',
  'uniqueViewers',
  'watchTimeSec',
  'avgViewDurationSec',
  'avgPercentViewed',
  'impressions',
  'playRate',
] as const;
const STREAM_COLUMNS = [
  'streamId',
  'title',
  'broadcasts',
  'liveMinutes',
  'views',
  'uniqueViewers',
  'peakConcurrent',
  'avgConcurrent',
  'watchTimeSec',
  'chatMessages',
] as const;
const COUNTRY_COLUMNS = [
  'countryCode',
  'country',
  'views',
  'uniqueViewers',
  'watchTimeSec',
  'sharePercent',
] as const;
const ALL_ROWS = 'With `Accept: text/csv`, returns all rows.';

/** Returns the list routes: rows in `data.rows`, with the fields of the report header. */
function listRoutes({ reads, cursors }: Deps): Route[] {
  const list = { ...anyKey, method: 'GET' } as const satisfies RouteOptions;
  const reply = <S extends TSchema>(schema: S, csv: readonly string[]) =>
    ({
      status: 200,
      schema,
      list: true,
      meta: shapes.RowsHead,
      csv,
    }) as const satisfies RouteOptions['reply'];
  return [
    defineRoute({
      ...list,
      operationId: 'analytics.videos',
      path: '/analytics/videos',
      summary: 'List video analytics',
      description: `Lists items with activity in the range, including deleted ones. ${ALL_ROWS}`,
      query: shapes.VideosQuery,
      reply: reply(shapes.VideoRow, VIDEO_COLUMNS),
      handler: ({ caller: { workspaceId }, acceptsCsv }, { query }) => {
        const read = (wanted: RowsQuery) =>
          reads.subjects(workspaceId, 'VIDEO', { ...query, compare: 'NONE' }, wanted);
        const rows = { read, toOut: answers.toVideoRow, columns: VIDEO_COLUMNS };
        return paged({ cursors, scope: `analytics.videos:${workspaceId}`, query, acceptsCsv }, rows);
      },
    }),
    defineRoute({
      ...list,
      operationId: 'analytics.streams',
      path: '/analytics/streams',
      summary: 'List stream analytics',
      description: `Lists items with activity in the range, including deleted ones. ${ALL_ROWS}`,
      query: shapes.StreamsQuery,
      reply: reply(shapes.StreamRow, STREAM_COLUMNS),
      handler: ({ caller: { workspaceId }, acceptsCsv }, { query }) => {
        const read = (wanted: RowsQuery) =>
          reads.subjects(workspaceId, 'STREAM', { ...query, compare: 'NONE' }, wanted);
        const rows = { read, toOut: answers.toStreamRow, columns: STREAM_COLUMNS };
        return paged({ cursors, scope: `analytics.streams:${workspaceId}`, query, acceptsCsv }, rows);
      },
    }),
    defineRoute({
      ...list,
      operationId: 'analytics.geography',
      path: '/analytics/geography',
      summary: 'Get analytics by country',
      description: `Of all content, or of \`videoId\` or \`streamId\`. ${ALL_ROWS}`,
      query: shapes.GeographyQuery,
      reply: reply(shapes.CountryRow, COUNTRY_COLUMNS),
      errors: ['NOT_FOUND'],
      handler: ({ caller: { workspaceId }, acceptsCsv }, { query }) => {
        const read = (wanted: RowsQuery) =>
          reads.geography(workspaceId, { ...query, compare: 'NONE' }, wanted);
        const rows = { read, toOut: answers.toCountry, columns: COUNTRY_COLUMNS };
        return paged({ cursors, scope: `analytics.geography:${workspaceId}`, query, acceptsCsv }, rows);
      },
    }),
  ];
}

const VIDEO_SERIES = ['date', 'views', 'uniqueViewers', 'watchTimeSec', 'impressions', 'plays'] as const;
const STREAM_SERIES = [
  'date',
  'views',
  'uniqueViewers',
  'watchTimeSec',
  'concurrentAvg',
  'concurrentPeak',
  'joins',
  'leaves',
  'chatMessages',
  'bitrateKbps',
] as const;

function subjectRoutes({ reads }: Deps): Route[] {
  return [
    defineRoute({
      ...anyKey,
      operationId: 'analytics.video',
      method: 'GET',
      path: '/analytics/videos/{id}',
      summary: 'Get video analytics',
      description: `A filter applies to totals and series. ${AS_CSV}`,
      params: IdParams('vid', 'video'),
      query: shapes.SeriesQuery,
      reply: { status: 200, schema: shapes.VideoAnalytics, csv: VIDEO_SERIES },
      async handler({ caller, acceptsCsv }, { params, query }) {
        const { workspaceId } = caller;
        if (!acceptsCsv) return answers.toVideo(await reads.video(workspaceId, params.id, query));
        const of = { kind: 'VIDEO', id: params.id } as const;
        return table(VIDEO_SERIES, answers.videoBuckets(await reads.series(workspaceId, of, query)));
      },
    }),
    defineRoute({
      ...anyKey,
      operationId: 'analytics.stream',
      method: 'GET',
      path: '/analytics/streams/{id}',
      summary: 'Get stream analytics',
      description: `A filter applies to totals and series. ${AS_CSV}`,
      params: IdParams('str', 'stream'),
      query: shapes.SeriesQuery,
      reply: { status: 200, schema: shapes.StreamAnalytics, csv: STREAM_SERIES },
      async handler({ caller, acceptsCsv }, { params, query }) {
        const { workspaceId } = caller;
        if (!acceptsCsv) return answers.toStream(await reads.stream(workspaceId, params.id, query));
        const of = { kind: 'STREAM', id: params.id } as const;
        return table(STREAM_SERIES, answers.streamBuckets(await reads.series(workspaceId, of, query)));
      },
    }),
  ];
}

const STATS_COLUMNS = [
  'of',
  'views',
  'watchTimeSec',
  'followers',
  'grossCents',
  'netCents',
  'subscribers',
  'purchases',
] as const;
const SUMMARY_COLUMNS = ['figure', 'value', 'previous', 'changePercent'] as const;

function financeRoutes({ finance }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresGate('finance-read'),
      operationId: 'analytics.stats',
      method: 'GET',
      path: '/analytics/stats',
      summary: 'Get audience and revenue statistics',
      description: 'Views, followers, members and sales, all-time and for the range, and revenue per view.',
      query: FinanceQuery,
      reply: { status: 200, schema: StatsOut, csv: STATS_COLUMNS },
      async handler({ caller, acceptsCsv }, { query }) {
        const report = toStats(await finance.stats(caller.workspaceId, query));
        if (!acceptsCsv) return report;
        const { lifetime, period } = report;
        return table(STATS_COLUMNS, [
          { of: 'lifetime', ...lifetime },
          { of: 'period', ...period },
        ]);
      },
    }),
    defineRoute({
      ...requiresGate('finance-read'),
      operationId: 'analytics.summary',
      method: 'GET',
      path: '/analytics/summary',
      summary: 'Get headline metrics',
      description:
        'Each metric with its value, the value of the preceding period, and the change. With `Accept: text/csv`, one line per metric.',
      query: FinanceQuery,
      reply: { status: 200, schema: SummaryOut, csv: SUMMARY_COLUMNS },
      async handler({ caller, acceptsCsv }, { query }) {
        const report = toSummary(await finance.summary(caller.workspaceId, query));
        if (!acceptsCsv) return report;
        return table(
          SUMMARY_COLUMNS,
          SUMMARY_METRICS.map((figure) => ({ figure, ...report[figure] })),
        );
      },
    }),
  ];
}

type Cells<C extends string> = Record<C, string | number | null>;

async function* table<C extends string>(columns: readonly C[], rows: Iterable<Cells<C>>): CsvRows {
  for (const row of rows) yield columns.map((column) => row[column]);
}

interface Asked {
  cursors: CursorCodec;
  scope: string;
  query: { limit: number; cursor?: string; sort: Sort };
  acceptsCsv: boolean;
}

interface Listed<R, C extends string, T extends Cells<C>> {
  read(wanted: RowsQuery): Promise<Rows<R>>;
  toOut(row: R, share: unknown): T;
  columns: readonly C[];
}

/** Returns a page of ranked rows, or all of them as CSV. */
async function paged<R extends { id: string; rank: number }, C extends string, T extends Cells<C>>(
  { cursors, scope, query, acceptsCsv }: Asked,
  listed: Listed<R, C, T>,
) {
  const list = new ListReader(cursors, scope, { ...query, order: 'desc' });
  const { sort } = query;
  if (acceptsCsv) return everyLine(listed, sort);
  const { after, fetchLimit } = list.request;
  const { head, share, rows } = await listed.read({
    sort,
    take: fetchLimit,
    after: after === null ? null : parseRankCursor(after),
  });
  const placed = rows.map((row) => ({ id: formatRankCursor(row), row }));
  return {
    ...list.page(placed, ({ row }) => listed.toOut(row, share)),
    meta: answers.toHead(head),
  };
}

const TABLE_ROWS = 2000;

async function* everyLine<R extends { id: string; rank: number }, C extends string, T extends Cells<C>>(
  { read, toOut, columns }: Listed<R, C, T>,
  sort: Sort,
): CsvRows {
  for (let after: RowsQuery['after'] = null; ; ) {
    const { rows, share }: Rows<R> = await read({ sort, take: TABLE_ROWS, after });
    for (const row of rows) {
      const shown = toOut(row, share);
      yield columns.map((column) => shown[column]);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < TABLE_ROWS) return;
    after = { rank: last.rank, id: last.id };
  }
}
