import { DAY, expandBlackout } from '../../../kernel/blackouts.ts';
import { badRequest } from '../../../kernel/errors.ts';
import type { Blackout, DayWindow, Weekday } from '../../../platform/db/json-columns.ts';

/** Weekdays from Monday to Sunday. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const satisfies Weekday[];

export type WeeklySchedule = Partial<Record<Weekday, DayWindow[]>>;

/** Availability rules of a creator. */
export interface AvailabilityRules {
  /** Windows of each day, sorted and without overlaps; a missing day has none. Ends may be 24:00. */
  weekly: WeeklySchedule;
  /** IANA zone of windows and whole days. */
  timezone: string;
  /**
   * Days as `YYYY-MM-DD`, the last one included, or instants in UTC, the end excluded; `expandBlackout`
   * parses both.
   */
  blackouts: Blackout[];
  minNoticeMin: number;
  maxAdvanceDays: number;
  /** Null when the rules were never set. */
  updatedAt: Date | null;
}

/**
 * Validates and sorts the windows of each day. Times are HH:MM, so they sort as text.
 *
 * @throws {AppError} BAD_REQUEST naming the time in the body, such as `weeklyJson.mon.0.end`.
 */
export function parseWeekly(weekly: WeeklySchedule): WeeklySchedule {
  const parsed: WeeklySchedule = {};
  for (const day of WEEKDAYS) {
    const windows = weekly[day];
    if (windows !== undefined) parsed[day] = parseDay(`weeklyJson.${day}`, windows);
  }
  return parsed;
}

function parseDay(field: string, windows: readonly DayWindow[]): DayWindow[] {
  const placed = windows.map(({ start, end }, index) => ({ start, end, at: `${field}.${index}` }));
  for (const { start, end, at } of placed) {
    if (start < end) continue;
    const advice =
      'A window cannot span midnight: split it into one until 24:00 and one from 00:00 of the next day.';
    throw badRequest(`${at}.end`, `The end of a window must be after its start. ${advice}`);
  }
  const sorted = placed.toSorted((a, b) => (a.start < b.start ? -1 : 1));
  for (const [index, { start, at }] of sorted.entries()) {
    const before = sorted[index - 1];
    if (before === undefined || before.end <= start) continue;
    throw badRequest(`${at}.start`, `This window overlaps ${before.start}-${before.end}.`);
  }
  return sorted.map(({ start, end }) => ({ start, end }));
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/i;
const YEARS = { first: 1970, last: 9998 } as const;

/**
 * Validates blackouts; days stay as they are, and instants are converted to UTC.
 *
 * @throws {AppError} BAD_REQUEST naming the text in the body, such as `blackoutsJson.0.start`.
 */
export function parseBlackouts(blackouts: readonly Blackout[], timezone: string): Blackout[] {
  return blackouts.map(({ start, end, reason }, index) => {
    const at = `blackoutsJson.${index}`;
    const parsed = {
      start: parseMoment(`${at}.start`, start),
      end: parseMoment(`${at}.end`, end),
      ...(reason === undefined ? {} : { reason }),
    };
    const instants = expandBlackout(parsed, timezone);
    if (instants.startMs >= instants.endMs) throw badRequest(`${at}.end`, 'end must be after start.');
    return parsed;
  });
}

function parseMoment(field: string, text: string): string {
  try {
    if (DAY.test(text)) return within(field, Temporal.PlainDate.from(text).year, text);
    if (INSTANT.test(text)) {
      const instant = Temporal.Instant.from(text);
      return within(field, instant.toZonedDateTimeISO('UTC').year, instant.toString());
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  const name = field.slice(field.lastIndexOf('.') + 1);
  throw badRequest(
    field,
    `${name} must be a date, such as 2026-12-24, or a date-time, such as 2026-12-24T18:00:00Z.`,
  );
}

function within(field: string, year: number, text: string): string {
  if (year >= YEARS.first && year <= YEARS.last) return text;
  throw badRequest(field, `Blackouts must be in the years ${YEARS.first} to ${YEARS.last}.`);
}
