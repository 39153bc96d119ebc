import { RRuleTemporal } from 'rrule-temporal';
import { dateFromMs } from '../../../kernel/clock.ts';
import { parseWallTime } from './ics-times.ts';

/** Periods that one rule may advance from its start: a daily event of 500 years. */
const MAX_ITERATIONS = 200_000;

const utc = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO('UTC');

/**
 * Expands an RRULE (RFC 5545, 3.3.10) on the wall clock.
 *
 * @param toWallMs converts UNTIL, if it is in UTC, to the wall clock of the series.
 * @returns wall times from `range.fromMs` to `range.toMs`, in order; null if the rule cannot be read.
 */
export function expandRule(
  rule: string,
  startMs: number,
  range: { fromMs: number; toMs: number },
  toWallMs: (instantMs: number) => number,
): number[] | null {
  let dates: Temporal.ZonedDateTime[];
  try {
    const until = (_: string, text: string) => `UNTIL=${wallUntil(text, toWallMs)}`;
    const series = new RRuleTemporal({
      rruleString: `RRULE:${rule.trim().replace(/UNTIL=([^;]*)/i, until)}`,
      dtstart: utc(startMs),
      temporal: Temporal,
      maxIterations: MAX_ITERATIONS,
      cache: false,
    });
    dates = series.between(utc(range.fromMs), utc(range.toMs), true);
  } catch {
    return null;
  }
  return dates.map(({ epochMilliseconds }) => epochMilliseconds);
}

/** @throws {RangeError} if it is malformed. */
function wallUntil(text: string, toWallMs: (instantMs: number) => number): string {
  const until = parseWallTime(text);
  if (until === null) throw new RangeError('malformed UNTIL');
  if (until.isDate) return text.trim();
  const wallMs = until.isUtc ? toWallMs(until.wallMs) : until.wallMs;
  return dateFromMs(wallMs)
    .toISOString()
    .replaceAll(/[-:]|\.\d+/g, '');
}
