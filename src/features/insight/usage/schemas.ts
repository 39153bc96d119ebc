import Type, { type Static } from 'typebox';
import type { CsvRow } from '../../../http/csv.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { listQuery } from '../../../http/pagination.ts';
import { CommaList, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import type { RequestsRow } from './repository.ts';
import { USAGE_NAMES, type UsageName } from './rules.ts';
import type { UsageReport } from './service.ts';

const GRANULARITIES = ['HOUR', 'DAY', 'MONTH'] as const;
const Day = (description: string) => Type.Optional(Type.String({ description, maxLength: 40 }));
const FROM = 'A date or date-time. Defaults to 28 days before `to`.';
const TO = 'A date or date-time, exclusive. Defaults to tomorrow.';

export const UsageQuery = Type.Object({
  from: Day(FROM),
  to: Day(TO),
  granularity: OneOf(GRANULARITIES, {
    default: 'DAY',
    description: 'Bucket size; HOUR supports at most 14 days.',
  }),
  timezone: Type.String({
    default: 'UTC',
    description: 'IANA time zone used for day boundaries.',
    maxLength: 100,
  }),
  metric: CommaList(USAGE_NAMES, 'Only these metrics. Defaults to all.'),
});

const SUMS = {
  storageBytes: Type.Optional(Type.Integer({ description: 'Peak storage.' })),
  egressBytes: Type.Optional(Type.Integer({ description: 'Bytes of media files sent.' })),
  encodeMinutes: Type.Optional(Type.Integer({ description: 'Minutes of video that became ready.' })),
  liveMinutes: Type.Optional(Type.Integer({ description: 'Minutes of live broadcasts.' })),
  roomMinutes: Type.Optional(Type.Integer({ description: 'Participant-minutes in rooms.' })),
  apiRequests: Type.Optional(Type.Integer()),
  webhookDeliveries: Type.Optional(Type.Integer({ description: 'Number of delivery attempts.' })),
};
const sums = {
  storageBytes: 52428800,
  egressBytes: 734003200,
  encodeMinutes: 12,
  liveMinutes: 95,
  roomMinutes: 240,
  apiRequests: 1840,
  webhookDeliveries: 310,
};

export const UsageOut = namedSchema(
  'Usage',
  Type.Object({
    from: Instant,
    to: Instant,
    timezone: Type.String(),
    granularity: OneOf(GRANULARITIES),
    series: Type.Array(
      Type.Object({
        date: Type.String({
          description: 'First local day of the bucket; for hours, their start with UTC offset.',
        }),
        ...SUMS,
      }),
    ),
    totals: Type.Object(SUMS),
  }),
  {
    from: '2026-11-20T00:00:00.000Z',
    to: '2026-11-21T00:00:00.000Z',
    timezone: 'UTC',
    granularity: 'DAY',
    series: [{ date: '2026-11-20', ...sums }],
    totals: sums,
  },
);

export function toUsage({ range, series, totals }: UsageReport): Static<typeof UsageOut> {
  const { from, to, timezone, granularity } = range;
  return { from: from.toISOString(), to: to.toISOString(), timezone, granularity, series, totals };
}

export const USAGE_COLUMNS = ['date', ...USAGE_NAMES];

/** Returns a CSV row for each bucket; metrics that were not requested are empty. */
export async function* usageCsvRows(report: UsageReport): AsyncGenerator<CsvRow> {
  const cell = (piece: UsageReport['series'][number]) => (name: UsageName) => piece[name] ?? null;
  for (const piece of report.series) yield [piece.date, ...USAGE_NAMES.map(cell(piece))];
}

export const RequestsQuery = Type.Omit(
  listQuery({
    keyId: Type.Optional(Type.String({ description: 'Only requests with this key.', maxLength: 100 })),
    from: Day('First UTC day; defaults to 28 days before `to`.'),
    to: Day('UTC day after the last; defaults to tomorrow.'),
  }),
  ['createdAfter', 'createdBefore'],
);

export const UsageRequests = namedSchema(
  'UsageRequests',
  Type.Object({
    date: Type.String({ format: 'date', description: 'A UTC day.' }),
    keyId: Nullable(Type.String({ description: 'Null means the dashboard.' })),
    requests: Type.Integer({ description: 'Number of requests, including rejected ones.' }),
    errors4xx: Type.Integer(),
    errors5xx: Type.Integer(),
    rateLimited: Type.Integer({ description: 'Responses with status 429, also counted in `errors4xx`.' }),
  }),
  {
    date: '2026-11-20',
    keyId: 'key_01kafe3n4pfx2v9yq6m8d7t5zr',
    requests: 1840,
    errors4xx: 12,
    errors5xx: 0,
    rateLimited: 3,
  },
);

export const REQUEST_COLUMNS = ['date', 'keyId', 'requests', 'errors4xx', 'errors5xx', 'rateLimited'];

export function toRequests({ id: _, ...row }: RequestsRow): Static<typeof UsageRequests> {
  return row;
}

export async function* requestCsvRows(rows: AsyncIterable<RequestsRow>): AsyncGenerator<CsvRow> {
  for await (const { date, keyId, requests, errors4xx, errors5xx, rateLimited } of rows) {
    yield [date, keyId, requests, errors4xx, errors5xx, rateLimited];
  }
}
