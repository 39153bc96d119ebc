import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { type Interval, previousRange } from '../../../kernel/date-range.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import type { Db } from '../../../platform/db/index.ts';
import * as repository from './reads.repository.ts';
import { EMPTY_TOTALS, type MetricTotals } from './reads.rules.ts';
import type { AnalyticsQueries, ReadQuery, ReportHeader } from './reads.service.ts';

/** Ledger amounts in cents. */
export interface Money {
  grossCents: number;
  feeCents: number;
  refundCents: number;
  /** Number of sales. */
  count: number;
}

interface Deps {
  db: Db;
  clock: Clock;
  reads: Pick<AnalyticsQueries, 'head'>;
  /** Returns the amounts of each period. */
  money(workspaceId: string, spans: readonly Interval[]): Promise<Money[]>;
  /** Current number of followers. */
  followers(workspaceId: string): Promise<number>;
  members: {
    /** Returns members and monthly recurring revenue at each moment. */
    at(workspaceId: string, moments: readonly Date[]): Promise<{ members: number; mrrCents: number }[]>;
    changes(workspaceId: string, spans: readonly Interval[]): Promise<{ began: number; ended: number }[]>;
  };
}

/** Figures of a period. */
export interface PeriodFigures {
  sums: MetricTotals;
  money: Money;
  /** Number of memberships that began; `ended` counts those that ended. */
  began: number;
  ended: number;
}

export interface StatsReport {
  head: ReportHeader;
  /** Current number of followers. */
  followers: number;
  lifetime: PeriodFigures;
  period: PeriodFigures;
  /** Members at the end of the period, or now. */
  members: number;
}

/** Period with the balances at its beginning and its end. */
export interface PeriodBalance extends PeriodFigures {
  followers: number;
  members: number;
  mrrCents: number;
  membersAtStart: number;
}

export interface SummaryReport {
  head: ReportHeader;
  period: PeriodBalance;
  previous: PeriodBalance;
}

type FinanceQuery = Omit<ReadQuery, 'compare'>;

/**
 * Content and money side by side, for whom the finance gate lets in (docs/concepts/analytics.md#money).
 *
 * @throws {AppError} BAD_REQUEST, field `from`, `to`, `timezone` or `granularity`.
 */
export interface FinanceAnalytics {
  stats(workspaceId: string, query: FinanceQuery): Promise<StatsReport>;
  summary(workspaceId: string, query: FinanceQuery): Promise<SummaryReport>;
}

const BEGINNING = dateFromMs(0);
const END = dateFromMs(Date.UTC(9999, 0));
const NO_MONEY: Money = { grossCents: 0, feeCents: 0, refundCents: 0, count: 0 };

export function createFinanceAnalytics(deps: Deps): FinanceAnalytics {
  const { clock, reads, members } = deps;
  return {
    async stats(workspaceId, query) {
      const head = await reads.head(query);
      const now = clock.ms();
      const life = { from: BEGINNING, to: dateFromMs((Math.floor(now / DAY_MS) + 1) * DAY_MS) };
      const [[period, lifetime], followers, [at]] = await Promise.all([
        figuresOf(deps, workspaceId, [head.range, life], { ...head, ...query }),
        deps.followers(workspaceId),
        members.at(workspaceId, [dateFromMs(Math.min(now, head.range.to.getTime()))]),
      ]);
      const figures = { lifetime: lifetime ?? NONE, period: period ?? NONE };
      return { head, ...figures, followers, members: at?.members ?? 0 };
    },
    async summary(workspaceId, query) {
      const head = await reads.head(query);
      const before = previousRange(head.range);
      const end = dateFromMs(Math.min(clock.ms(), head.range.to.getTime()));
      const later = { from: head.range.to, to: END };
      const account = { workspaceId, kind: 'ACCOUNT', id: '' } as const;
      const counted = { includeSelf: true, share: null, closedUntil: head.closedUntil };
      const [[period = NONE, earlier = NONE], at, followers, [since = EMPTY_TOTALS]] = await Promise.all([
        figuresOf(deps, workspaceId, [head.range, before], { ...head, ...query }),
        members.at(workspaceId, [end, head.range.from, before.from]),
        deps.followers(workspaceId),
        repository.sumByBucket(deps.db, account, [later], counted),
      ]);
      const [now = NO_MEMBERS, start = NO_MEMBERS, first = NO_MEMBERS] = at;
      const atEnd = followers - followersIn(since);
      return {
        head,
        period: { ...period, ...now, followers: atEnd, membersAtStart: start.members },
        previous: {
          ...earlier,
          ...start,
          followers: atEnd - followersIn(period.sums),
          membersAtStart: first.members,
        },
      };
    },
  };
}

const NONE: PeriodFigures = { sums: EMPTY_TOTALS, money: NO_MONEY, began: 0, ended: 0 };
const NO_MEMBERS = { members: 0, mrrCents: 0 };

/** Returns the net change of followers. */
export const followersIn = ({ newFollowers, lostFollowers }: MetricTotals): number =>
  newFollowers - lostFollowers;

async function figuresOf(
  { db, money, members }: Deps,
  workspaceId: string,
  spans: readonly Interval[],
  { includeSelf, closedUntil }: Pick<FinanceQuery, 'includeSelf'> & Pick<ReportHeader, 'closedUntil'>,
): Promise<PeriodFigures[]> {
  const account = { workspaceId, kind: 'ACCOUNT', id: '' } as const;
  const [sums, moved, changes] = await Promise.all([
    repository.sumByBucket(db, account, spans, { includeSelf, closedUntil, share: null }),
    money(workspaceId, spans),
    members.changes(workspaceId, spans),
  ]);
  return spans.map((_, index) => ({
    sums: sums[index] ?? EMPTY_TOTALS,
    money: moved[index] ?? NO_MONEY,
    ...(changes[index] ?? { began: 0, ended: 0 }),
  }));
}
