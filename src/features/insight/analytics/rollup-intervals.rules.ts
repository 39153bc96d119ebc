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

/** Seconds of videos are counted by the day. */
export const DAILY_ROLLUP_INTERVALS_MIN = [
  1440, 5760, 23_040, 92_160,
] as const satisfies AnalyticsRetentionIntervalMin[];

/** Sums of one length, one after another. */
export interface RollupScan {
  /** The piece that they are a part of, from 0. */
  piece: number;
  length: RollupInterval;
  from: Date;
  to: Date;
}

/**
 * Each piece as the fewest sums that are its time. Longer ones than the shortest are there where they end before
 * `closedUntil`; null: nowhere.
 *
 * @param lengths of those that there are; the shortest is there at all times. Pieces begin and end on it.
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
      // Nothing after that is closed: all of it is one walk.
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

/** The longest that begins at a moment and ends by another one. */
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

/** Spans of one length, and those they are made of. */
export interface CompactionStep extends Interval {
  length: RollupInterval;
  below: RollupInterval;
}

/** What is to be made when the time from one quarter-hour until another one is over, in this order. */
export function planCompaction(from: Date, until: Date): CompactionStep[] {
  return ROLLUP_INTERVALS_MIN.flatMap((length, index) => {
    const below = ROLLUP_INTERVALS_MIN[index - 1];
    const begins = { from: startOfInterval(from, length), to: startOfInterval(until, length) };
    return below === undefined || begins.from >= begins.to ? [] : [{ length, below, ...begins }];
  });
}

/**
 * What is to be made anew when the sums of a UTC day were, as far as it is closed.
 *
 * @param closedUntil null: nothing is.
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

/** When the span of this length begins that a moment is in. */
export function startOfInterval(at: Date, length: RollupInterval): Date {
  const ms = length * MINUTE_MS;
  return dateFromMs(Math.floor(at.getTime() / ms) * ms);
}
