import type { Clock } from '../../../kernel/clock.ts';
import {
  clippedBuckets,
  type Interval,
  parseDateRange,
  type RangeQuery,
  type TimeRange,
} from '../../../kernel/date-range.ts';
import type { Db } from '../../../platform/db/index.ts';
import * as repository from './revenue.repository.ts';
import type { RevenueDelta, SaleKind } from './rules.ts';

export const GROUPINGS = ['kind', 'tier', 'product', 'video'] as const;
/** Bucket sizes of revenue reports. */
export const BUCKETS = ['DAY', 'WEEK', 'MONTH'] as const;
type Bucket = (typeof BUCKETS)[number];
export type Grouping = (typeof GROUPINGS)[number];

/** Lookup of the current names of sold items; deleted items are omitted. */
export type NamesOf = (workspaceId: string, ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;

interface Deps {
  db: Db;
  clock: Clock;
  names: Record<SaleKind, NamesOf>;
}

export interface RevenueReport {
  range: TimeRange<Bucket>;
  totals: RevenueDelta;
  /** One entry per bucket of the range. */
  series: (RevenueDelta & { date: string })[];
  /** Breakdown by item, highest revenue first. */
  breakdown: (RevenueDelta & { key: string; label: string })[];
}

export interface Revenue {
  /**
   * Returns the revenue of a range. Each movement counts on its own day, regardless of the date of its sale.
   *
   * @throws {AppError} BAD_REQUEST, field `from`, `to` or `timezone`.
   */
  read(workspaceId: string, query: RangeQuery<Bucket> & { groupBy: Grouping }): Promise<RevenueReport>;
  /** Returns the revenue of each interval. */
  sums(workspaceId: string, spans: readonly Interval[]): Promise<RevenueDelta[]>;
}

const NOTHING: RevenueDelta = { grossCents: 0, feeCents: 0, refundCents: 0, count: 0 };
const MAX_ITEMS = 1000;
const KINDS = { tier: 'SUBSCRIPTION', product: 'BOOKING', video: 'VIDEO' } as const;
const LABELS = { VIDEO: 'Videos', BOOKING: 'Bookings', SUBSCRIPTION: 'Subscriptions' } as const;

export function createRevenue({ db, clock, names }: Deps): Revenue {
  async function breakdownOf(workspaceId: string, range: TimeRange, groupBy: Grouping) {
    const kind = groupBy === 'kind' ? null : KINDS[groupBy];
    const rows = await repository.sumByItem(db, workspaceId, range, kind, MAX_ITEMS);
    if (kind === null) {
      return rows.map(({ kind: key, itemId: _, ...sums }) => ({ key, label: LABELS[key], ...sums }));
    }
    const ids = rows.map(({ itemId }) => itemId);
    const labels = await names[kind](workspaceId, ids);
    return rows.map(({ itemId: key, kind: _, ...sums }) => ({ key, label: labels.get(key) ?? key, ...sums }));
  }

  return {
    sums: (workspaceId, spans) => repository.sumByBucket(db, workspaceId, spans),
    async read(workspaceId, { groupBy, ...query }) {
      const range = parseDateRange(query, clock.ms());
      const [sums, breakdown] = await Promise.all([
        repository.sumByBucket(db, workspaceId, clippedBuckets(range)),
        breakdownOf(workspaceId, range, groupBy),
      ]);
      const series = range.buckets.map(({ date }, index) => ({ date, ...(sums[index] ?? NOTHING) }));
      return {
        range,
        totals: series.reduce(add, NOTHING),
        series,
        breakdown,
      };
    },
  };
}

function add(a: RevenueDelta, b: RevenueDelta): RevenueDelta {
  return {
    grossCents: a.grossCents + b.grossCents,
    feeCents: a.feeCents + b.feeCents,
    refundCents: a.refundCents + b.refundCents,
    count: a.count + b.count,
  };
}
