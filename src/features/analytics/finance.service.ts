import { type Clock, dateFromMs } from '../../kernel/clock.ts';
import { DAY_MS } from '../../kernel/durations.ts';
import { previousOf, type Span } from '../../kernel/time-range.ts';
import type { Db } from '../../platform/db/index.ts';
import * as repository from './reads.repository.ts';
import { NOTHING, type Sums } from './reads.rules.ts';
import type { Head, ReadQuery, Reads } from './reads.service.ts';

/** Amounts of the books, in cents. */
export interface Money {
  grossCents: number;
  feeCents: number;
  refundCents: number;
  /** Sales. */
  count: number;
}

interface Deps {
  db: Db;
  clock: Clock;
  reads: Pick<Reads, 'head'>;
  /** Of each span. */
  money(workspaceId: string, spans: readonly Span[]): Promise<Money[]>;
  /** Now. */
  followers(workspaceId: string): Promise<number>;
  members: {
    /** At each moment: how many, and what they bring in a month. */
    at(workspaceId: string, moments: readonly Date[]): Promise<{ members: number; mrrCents: number }[]>;
    changes(workspaceId: string, spans: readonly Span[]): Promise<{ began: number; ended: number }[]>;
  };
}

/** What there is of a span. */
export interface Figures {
  sums: Sums;
  money: Money;
  /** Memberships that began, and ended. */
  began: number;
  ended: number;
}

export interface StatsReport {
  head: Head;
  /** Now. */
  followers: number;
  lifetime: Figures;
  period: Figures;
  /** When the period ends, or now. */
  members: number;
}

/** A span, and what stood at its beginning and its end. */
export interface Standing extends Figures {
  followers: number;
  members: number;
  mrrCents: number;
  membersAtStart: number;
}

export interface SummaryReport {
  head: Head;
  period: Standing;
  previous: Standing;
}

type FinanceQuery = Omit<ReadQuery, 'compare'>;

/**
 * Content and money side by side, for whom the finance gate lets in (docs/concepts/analytics.md#money).
 *
 * @throws {AppError} BAD_REQUEST, field `from`, `to`, `timezone` or `granularity`.
 */
export interface FinanceReads {
  stats(workspaceId: string, query: FinanceQuery): Promise<StatsReport>;
  summary(workspaceId: string, query: FinanceQuery): Promise<SummaryReport>;
}

const BEGINNING = dateFromMs(0);
const END = dateFromMs(Date.UTC(9999, 0));
const NO_MONEY: Money = { grossCents: 0, feeCents: 0, refundCents: 0, count: 0 };

export function createFinanceReads(deps: Deps): FinanceReads {
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
      const before = previousOf(head.range);
      const end = dateFromMs(Math.min(clock.ms(), head.range.to.getTime()));
      const later = { from: head.range.to, to: END };
      const account = { workspaceId, kind: 'ACCOUNT', id: '' } as const;
      const counted = { includeSelf: true, share: null, closedUntil: head.closedUntil };
      const [[period = NONE, earlier = NONE], at, followers, [since = NOTHING]] = await Promise.all([
        figuresOf(deps, workspaceId, [head.range, before], { ...head, ...query }),
        members.at(workspaceId, [end, head.range.from, before.from]),
        deps.followers(workspaceId),
        repository.sumPieces(deps.db, account, [later], counted),
      ]);
      const [now = NOBODY, start = NOBODY, first = NOBODY] = at;
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

const NONE: Figures = { sums: NOTHING, money: NO_MONEY, began: 0, ended: 0 };
const NOBODY = { members: 0, mrrCents: 0 };

/** More than were lost. */
export const followersIn = ({ newFollowers, lostFollowers }: Sums): number => newFollowers - lostFollowers;

async function figuresOf(
  { db, money, members }: Deps,
  workspaceId: string,
  spans: readonly Span[],
  { includeSelf, closedUntil }: Pick<FinanceQuery, 'includeSelf'> & Pick<Head, 'closedUntil'>,
): Promise<Figures[]> {
  const account = { workspaceId, kind: 'ACCOUNT', id: '' } as const;
  const [sums, moved, changes] = await Promise.all([
    repository.sumPieces(db, account, spans, { includeSelf, closedUntil, share: null }),
    money(workspaceId, spans),
    members.changes(workspaceId, spans),
  ]);
  return spans.map((_, index) => ({
    sums: sums[index] ?? NOTHING,
    money: moved[index] ?? NO_MONEY,
    ...(changes[index] ?? { began: 0, ended: 0 }),
  }));
}
