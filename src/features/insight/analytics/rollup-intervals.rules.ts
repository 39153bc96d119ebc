import { dateFromMs } from '../../../kernel/clock.ts';
import type { Interval } from '../../../kernel/date-range.ts';
import { DAY_MS, MINUTE_MS } from '../../../kernel/durations.ts';
import type {
  AnalyticsRetentionIntervalMin,
  AnalyticsTotalIntervalMin,
} from '../../../platform/db/tables.generated.ts';

/**
 * Lengths of sums in minutes, the shortest first: each is a multiple of the one before, and begins on multiples of
 * itself since 1970 (docs/decisions/analytics.md#rollup-intervals).
 */
export const ROLLUP_INTERVALS_MIN = [
  15, 60, 240, 1440, 5760, 23_040, 92_160,
] as const satisfies AnalyticsTotalIntervalMin[];
export type RollupInterval = AnalyticsTotalIntervalMin;

/** Rollup intervals of retention, which is counted by day. */
export const DAILY_ROLLUP_INTERVALS_MIN = [
  1440, 5760, 23_040, 92_160,
] as const satisfies AnalyticsRetentionIntervalMin[];

/** Scan of consecutive rollups of one interval. */
export interface RollupScan {
  /** Index of the bucket that the scan belongs to. */
  piece: number;
  length: RollupInterval;
  from: Date;
  to: Date;
}

/**
 * Returns the fewest rollups that cover each bucket exactly. Intervals longer than the shortest exist if they
 * end before `closedUntil`; null: none.
 *
 * @param lengths existing intervals; the shortest always exists. Buckets are aligned to it.
 */
export function planRollupScans(
  pieces: readonly Interval[],
  closedUntil: Date | null,
  lengths: readonly RollupInterval[] = ROLLUP_INTERVALS_MIN,
): RollupScan[] {
  const [shortest] = lengths;
  if (shortest === undefined) return [];
  const closedMs = closedUntil?.getTime() ?? 0;
  const walks: RollupScan[] = [];
  pieces.forEach(({ from, to }, piece) => {
    const endMs = to.getTime();
    for (let ms = from.getTime(); ms < endMs; ) {
      // Nothing later is compacted: one scan covers it.
      const openTo = ms >= closedMs ? endMs : null;
      const length = openTo === null ? longest(ms, Math.min(endMs, closedMs), lengths, shortest) : shortest;
      const next = openTo ?? ms + length * MINUTE_MS;
      const last = walks.at(-1);
      if (last?.piece === piece && last.length === length) last.to = dateFromMs(next);
      else walks.push({ piece, length, from: dateFromMs(ms), to: dateFromMs(next) });
      ms = next;
    }
  });
  return walks;
}

/** Returns the longest interval that begins at a moment and ends by another one. */
function longest(
  ms: number,
  endMs: number,
  lengths: readonly RollupInterval[],
  otherwise: RollupInterval,
): RollupInterval {
  const fits = (length: RollupInterval) =>
    ms % (length * MINUTE_MS) === 0 && ms + length * MINUTE_MS <= endMs;
  return lengths.findLast(fits) ?? otherwise;
}

/** Intervals to build, and the shorter ones they are built from. */
export interface CompactionStep extends Interval {
  length: RollupInterval;
  below: RollupInterval;
}

/** Returns the compaction steps, in order, that are due when time passes from one quarter-hour to another. */
export function planCompaction(from: Date, until: Date): CompactionStep[] {
  return ROLLUP_INTERVALS_MIN.flatMap((length, index) => {
    const below = ROLLUP_INTERVALS_MIN[index - 1];
    const begins = { from: startOfInterval(from, length), to: startOfInterval(until, length) };
    return below === undefined || begins.from >= begins.to ? [] : [{ length, below, ...begins }];
  });
}

/**
 * Returns the compaction steps to repeat after the rollups of a UTC day were rebuilt, as far as it is
 * compacted.
 *
 * @param closedUntil null: nothing is compacted.
 */
export function planRecompaction(day: Date, closedUntil: Date | null): CompactionStep[] {
  return ROLLUP_INTERVALS_MIN.flatMap((length, index) => {
    const below = ROLLUP_INTERVALS_MIN[index - 1];
    if (below === undefined || closedUntil === null) return [];
    const from = startOfInterval(day, length);
    const ends = Math.min(
      Math.max(day.getTime() + DAY_MS, from.getTime() + length * MINUTE_MS),
      startOfInterval(closedUntil, length).getTime(),
    );
    return from.getTime() < ends ? [{ length, below, from, to: dateFromMs(ends) }] : [];
  });
}

/** Returns the start of the interval that contains a moment. */
export function startOfInterval(at: Date, length: RollupInterval): Date {
  const ms = length * MINUTE_MS;
  return dateFromMs(Math.floor(at.getTime() / ms) * ms);
}
