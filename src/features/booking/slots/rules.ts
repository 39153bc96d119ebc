import { DAY, expandBlackout } from '../../../kernel/blackouts.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../../kernel/durations.ts';
import { badRequest } from '../../../kernel/errors.ts';
import { loadZoneOffsets, type ZoneOffsets } from '../../../kernel/zone.ts';

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** When a creator has time (docs/concepts/booking-availability.md). */
export interface AvailabilityWindows {
  /** Wall times as HH:MM; `end` may be 24:00. Sorted, without overlaps. */
  weekly: { readonly [Day in (typeof WEEKDAYS)[number]]?: readonly { start: string; end: string }[] };
  timezone: string;
  blackouts: readonly { start: string; end: string }[];
  minNoticeMin: number;
  maxAdvanceDays: number;
}

/** Durations of a slot. */
export interface SlotDurations {
  durationMin: number;
  bufferMin: number;
}

/** Potential slot in epoch milliseconds. */
export interface Candidate {
  startMs: number;
  endMs: number;
  /** End of the buffer. */
  freeMs: number;
}

/** Range [from, to) in epoch milliseconds. */
export interface Range {
  fromMs: number;
  toMs: number;
}

const MAX_DAYS = 62;
const DEFAULT_DAYS = 28;

/**
 * Parses `from` and `to`, days of a zone, the last included; by default today and the 27 days after it.
 *
 * @throws {AppError} BAD_REQUEST, field `from` or `to`.
 */
export function parseDayRange(query: { from?: string; to?: string }, timezone: string, nowMs: number): Range {
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timezone).toPlainDate();
  const from = query.from === undefined ? today : readDay('from', query.from);
  const to = query.to === undefined ? from.add({ days: DEFAULT_DAYS - 1 }) : readDay('to', query.to);
  const days = from.until(to).days + 1;
  if (days < 1) throw badRequest('to', 'to must not be before from.');
  if (days > MAX_DAYS) throw badRequest('to', `The range must not exceed ${MAX_DAYS} days, inclusive.`);
  return { fromMs: startOf(from, timezone), toMs: startOf(to.add({ days: 1 }), timezone) };
}

const YEARS = { first: 1970, last: 9998 } as const;

function readDay(field: 'from' | 'to', text: string): Temporal.PlainDate {
  const day = DAY.test(text) ? plainDate(text) : null;
  if (day === null) throw badRequest(field, `${field} must be a date, such as 2026-11-20.`);
  if (day.year < YEARS.first || day.year > YEARS.last) {
    throw badRequest(field, `${field} must be in the years ${YEARS.first} to ${YEARS.last}.`);
  }
  return day;
}

function plainDate(text: string): Temporal.PlainDate | null {
  try {
    return Temporal.PlainDate.from(text);
  } catch {
    return null;
  }
}

/** Returns the first moment of a day: not every day has a midnight, and not every zone has every day. */
function startOf(day: Temporal.PlainDate, timezone: string): number {
  return day.toZonedDateTime({ timeZone: timezone }).epochMilliseconds;
}

/**
 * Returns the slots that a creator's windows offer between two moments, in order, whether taken or not. A
 * slot belongs to the range by its start. Rules: docs/concepts/booking-availability.md#slot-rules.
 */
export function candidates(
  hours: AvailabilityWindows,
  lengths: SlotDurations,
  { fromMs, toMs }: Range,
): Candidate[] {
  const zone = loadZoneOffsets(hours.timezone, fromMs - 2 * DAY_MS, toMs + 2 * DAY_MS);
  const found: Candidate[] = [];
  const last = Math.floor(zone.wallMs(toMs) / DAY_MS);
  // Starts a day earlier: its last slot may extend into the first day and suppress slots that begin before it
  // ends.
  for (let day = Math.floor(zone.wallMs(fromMs) / DAY_MS) - 1; day <= last; day++) {
    // The first of January 1970, day 0, was a Thursday.
    for (const window of hours.weekly[WEEKDAYS[(day + 3) % 7] ?? 'mon'] ?? []) {
      addWindow(found, zone, lengths, {
        startMs: day * DAY_MS + minutesOf(window.start) * MINUTE_MS,
        endMs: day * DAY_MS + minutesOf(window.end) * MINUTE_MS,
      });
    }
  }
  return found.filter(({ startMs }) => startMs >= fromMs && startMs < toMs);
}

/** @param wall the window in wall times. */
function addWindow(
  found: Candidate[],
  zone: ZoneOffsets,
  { durationMin, bufferMin }: SlotDurations,
  wall: { startMs: number; endMs: number },
): void {
  const lengthMs = durationMin * MINUTE_MS;
  const stepMs = lengthMs + bufferMin * MINUTE_MS;
  const closesMs = zone.reachedMs(wall.endMs);
  for (let at = wall.startMs; at + lengthMs <= wall.endMs; at += stepMs) {
    const startMs = zone.instantMs(at);
    if (startMs === null) continue;
    const endMs = startMs + lengthMs;
    if (endMs > closesMs || startMs < (found.at(-1)?.endMs ?? -Infinity)) continue;
    found.push({ startMs, endMs, freeMs: startMs + stepMs });
  }
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

/**
 * Returns slots that can be booked now: after the minimum notice, before the horizon, outside of blackouts.
 */
export function bookable<T extends Candidate>(
  found: readonly T[],
  hours: AvailabilityWindows,
  nowMs: number,
): T[] {
  const earliestMs = nowMs + hours.minNoticeMin * MINUTE_MS;
  const [first, last] = [found[0], found.at(-1)];
  if (first === undefined || last === undefined) return [];
  const zone = loadZoneOffsets(
    hours.timezone,
    Math.min(nowMs, first.startMs) - DAY_MS,
    last.startMs + DAY_MS,
  );
  const dayOf = (ms: number) => Math.floor(zone.wallMs(ms) / DAY_MS);
  const lastDay = dayOf(nowMs) + hours.maxAdvanceDays;
  const isOpen = outside(
    hours.blackouts.map((blackout) => {
      const { startMs, endMs } = expandBlackout(blackout, hours.timezone);
      return { fromMs: startMs, toMs: endMs };
    }),
  );
  return found.filter(
    ({ startMs, endMs }) => startMs >= earliestMs && dayOf(startMs) <= lastDay && isOpen(startMs, endMs),
  );
}

/** Returns slots whose time and buffer overlap nothing. @param taken unsorted. */
export function withoutConflicts(found: readonly Candidate[], taken: readonly Range[]): Candidate[] {
  const isFree = outside(taken);
  return found.filter(({ startMs, freeMs }) => isFree(startMs, freeMs));
}

/**
 * Returns a function that reports whether [from, to) overlaps none of the ranges; calls may come in any
 * order.
 */
function outside(ranges: readonly Range[]): (fromMs: number, toMs: number) => boolean {
  const disjoint = merged(ranges);
  return (fromMs, toMs) => {
    // Index of the first range that ends after `from`.
    let low = 0;
    let high = disjoint.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((disjoint[middle]?.toMs ?? 0) > fromMs) high = middle;
      else low = middle + 1;
    }
    const next = disjoint[low];
    return next === undefined || next.fromMs >= toMs;
  };
}

function merged(ranges: readonly Range[]): Range[] {
  const disjoint: Range[] = [];
  for (const { fromMs, toMs } of ranges.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = disjoint.at(-1);
    if (last === undefined || fromMs > last.toMs) disjoint.push({ fromMs, toMs });
    else last.toMs = Math.max(last.toMs, toMs);
  }
  return disjoint;
}

/** Returns a function that formats a wall time of a zone, such as `2026-11-20T09:00`. */
export function localTimes(timezone: string, { fromMs, toMs }: Range): (ms: number) => string {
  const zone = loadZoneOffsets(timezone, fromMs, toMs);
  return (ms) => dateFromMs(zone.wallMs(ms)).toISOString().slice(0, 16);
}
