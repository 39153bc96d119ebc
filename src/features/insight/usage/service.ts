import type { Clock } from '../../../kernel/clock.ts';
import {
  clippedBuckets,
  type Interval,
  parseDateRange,
  type RangeQuery,
  type TimeRange,
} from '../../../kernel/date-range.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import { badRequest } from '../../../kernel/errors.ts';
import { startOfMonth, startOfNextMonth } from '../../../kernel/months.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { UsageTotalMetric } from '../../../platform/db/tables.generated.ts';
import type { RequestsRow } from './repository.ts';
import * as repository from './repository.ts';
import { METRICS, type Usage, type UsageName, usageOf } from './rules.ts';

export type UsageGranularity = 'HOUR' | 'DAY' | 'MONTH';

export interface UsageReport {
  range: TimeRange<UsageGranularity>;
  series: (Usage & { date: string })[];
  totals: Usage;
}

/** Range of UTC days, as in `/usage/requests`. */
export interface RequestsQuery {
  keyId?: string;
  from?: string;
  to?: string;
}

export interface UsageReader {
  /** @throws {AppError} BAD_REQUEST, field `from`, `to`, `timezone` or `granularity`. */
  read(
    workspaceId: string,
    query: RangeQuery<UsageGranularity>,
    names: readonly UsageName[],
  ): Promise<UsageReport>;
  /** @throws {AppError} BAD_REQUEST, field `from` or `to`. */
  requests(workspaceId: string, query: RequestsQuery, page: PageRequest): Promise<RequestsRow[]>;
  /** Returns all rows. */
  everyRequest(
    workspaceId: string,
    query: RequestsQuery,
    order: PageRequest['order'],
  ): AsyncIterable<RequestsRow>;
  /**
   * Returns the amount of the current UTC month in the unit of its usage events: bytes, milliseconds or a
   * count.
   */
  thisMonth(workspaceId: string, metric: UsageTotalMetric): Promise<number>;
}

interface Deps {
  db: Db;
  clock: Clock;
}

const CSV_PAGE = 500;

/** Creates the reader of usage rollups (docs/concepts/usage.md). */
export function createUsageReader({ db, clock }: Deps): UsageReader {
  const requests = (
    workspaceId: string,
    query: RequestsQuery,
    page: Parameters<typeof repository.requestsOf>[3],
  ) => repository.requestsOf(db, workspaceId, { ...daysOf(query, clock.ms()), keyId: query.keyId }, page);
  return {
    async read(workspaceId, query, names) {
      const range = parseDateRange(query, clock.ms());
      const pieces = clippedBuckets(range);
      const metrics = names.map((name) => METRICS[name]);
      const amounts = new Map(metrics.map((metric) => [metric, pieces.map(() => 0)]));
      for (const { metric, position, amount } of await repository.getUsageAmounts(
        db,
        workspaceId,
        pieces,
        metrics,
      )) {
        const values = amounts.get(metric);
        if (values !== undefined) values[position] = amount;
      }
      const { series, totals } = usageOf(amounts, names, pieces.length);
      return {
        range,
        series: range.buckets.map(({ date }, index) => ({ date, ...series[index] })),
        totals,
      };
    },
    requests,
    async *everyRequest(workspaceId, query, order) {
      for (let after: string | null = null; ; ) {
        const rows: RequestsRow[] = await requests(workspaceId, query, {
          after,
          order,
          fetchLimit: CSV_PAGE,
        });
        yield* rows;
        const last = rows.at(-1);
        if (last === undefined || rows.length < CSV_PAGE) return;
        after = last.id;
      }
    },
    async thisMonth(workspaceId, metric) {
      const now = clock.now();
      const month = { from: startOfMonth(now), to: startOfNextMonth(now) };
      const [row] = await repository.getUsageAmounts(db, workspaceId, [month], [metric]);
      return row?.amount ?? 0;
    },
  };
}

/** Returns the range of whole UTC days, by which requests are counted. */
function daysOf({ from, to }: RequestsQuery, nowMs: number): Interval {
  const given = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const range = parseDateRange({ ...given, granularity: 'DAY' }, nowMs);
  for (const field of ['from', 'to'] as const) {
    if (range[field].getTime() % DAY_MS !== 0) {
      throw badRequest(field, `${field} must be the start of a UTC day.`);
    }
  }
  return range;
}
