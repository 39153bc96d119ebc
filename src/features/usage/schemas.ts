import Type, { type Static } from 'typebox';
import type { CsvRow } from '../../http/csv.ts';
import { named } from '../../http/named.ts';
import { listQuery } from '../../http/pagination.ts';
import { CommaList, Instant, Nullable, OneOf } from '../../http/schema.ts';
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
  granularity: OneOf(GRANULARITIES, { default: 'DAY', description: 'By the HOUR at most 14 days.' }),
  timezone: Type.String({
    default: 'UTC',
    description: 'IANA time zone used for day boundaries.',
    maxLength: 100,
  }),
  metric: CommaList(USAGE_NAMES, 'Only these. Default: all.'),
});

const SUMS = {
  storageBytes: Type.Optional(Type.Integer({ description: 'The most that was stored at a time.' })),
  egressBytes: Type.Optional(Type.Integer({ description: 'Of media files that were sent.' })),
  encodeMinutes: Type.Optional(Type.Integer({ description: 'Of video that became ready.' })),
  liveMinutes: Type.Optional(Type.Integer({ description: 'That broadcasts were on.' })),
  roomMinutes: Type.Optional(Type.Integer({ description: 'That people spent in rooms.' })),
  apiRequests: Type.Optional(Type.Integer()),
  webhookDeliveries: Type.Optional(Type.Integer({ description: 'Attempts.' })),
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

export const UsageOut = named(
  'Usage',
  Type.Object({
    from: Instant,
    to: Instant,
    timezone: Type.String(),
    granularity: OneOf(GRANULARITIES),
    series: Type.Array(
      Type.Object({
        date: Type.String({
          description: 'The first local day of the piece; of hours, their beginning with its offset.',
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

/** A line for each piece; what was not asked for is empty. */
export async function* usageLines(report: UsageReport): AsyncGenerator<CsvRow> {
  const cell = (piece: UsageReport['series'][number]) => (name: UsageName) => piece[name] ?? null;
  for (const piece of report.series) yield [piece.date, ...USAGE_NAMES.map(cell(piece))];
}

export const RequestsQuery = Type.Omit(
  listQuery({
    keyId: Type.Optional(Type.String({ description: 'Only those of this key.', maxLength: 100 })),
    from: Day('A UTC day. Default: 28 days before `to`.'),
    to: Day('Excluded. A UTC day. Default: tomorrow.'),
  }),
  ['createdAfter', 'createdBefore'],
);

export const UsageRequests = named(
  'UsageRequests',
  Type.Object({
    date: Type.String({ format: 'date', description: 'A UTC day.' }),
    keyId: Nullable(Type.String({ description: 'null: the dashboard.' })),
    requests: Type.Integer({ description: 'Refusals included.' }),
    errors4xx: Type.Integer(),
    errors5xx: Type.Integer(),
    rateLimited: Type.Integer({ description: 'Of `errors4xx`, those with status 429.' }),
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

export async function* requestLines(rows: AsyncIterable<RequestsRow>): AsyncGenerator<CsvRow> {
  for await (const { date, keyId, requests, errors4xx, errors5xx, rateLimited } of rows) {
    yield [date, keyId, requests, errors4xx, errors5xx, rateLimited];
  }
}
