import { dateFromMs } from './clock.ts';
import { badRequest } from './errors.ts';
import { normaliseTimezone } from './timezone.ts';

export const GRANULARITIES = ['DAY', 'WEEK', 'MONTH'] as const;
export type Granularity = (typeof GRANULARITIES)[number];

/** As a query has them. */
export interface RangeQuery {
  /** A day (`2026-11-20`) or an instant. */
  from?: string;
  to?: string;
  timezone?: string;
  granularity: Granularity;
}

/** A span of time in pieces. Both ends are on quarter-hours, which all days begin on. */
export interface TimeRange {
  from: Date;
  /** Excluded. */
  to: Date;
  /** Canonical. */
  timezone: string;
  granularity: Granularity;
  /** Without a gap, oldest first; the first may begin before `from`. */
  buckets: readonly { /** The local day on which it begins. */ date: string; start: Date }[];
}

const MAX_DAYS = 400;
const DEFAULT_DAYS = 28;
const QUARTER_MS = 900_000;
const DAY = /^\d{4}-\d\d-\d\d$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i;

/**
 * Reads `from`, `to`, `timezone` and `granularity` (docs/api/revenue.md#ranges): the last 28 days unless told, today
 * included; at most 400.
 *
 * @throws {AppError} BAD_REQUEST, field `from`, `to` or `timezone`.
 */
export function readRange(query: RangeQuery, nowMs: number): TimeRange {
  const timezone = normaliseTimezone(query.timezone ?? 'UTC');
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timezone).toPlainDate();
  const to =
    query.to === undefined ? startOf(today.add({ days: 1 }), timezone) : read('to', query.to, timezone);
  const from =
    query.from === undefined
      ? startOf(dayOf(to, timezone).subtract({ days: DEFAULT_DAYS }), timezone)
      : read('from', query.from, timezone);
  const fromMs = Math.floor(from.epochMilliseconds / QUARTER_MS) * QUARTER_MS;
  const toMs = Math.ceil(to.epochMilliseconds / QUARTER_MS) * QUARTER_MS;
  if (fromMs >= toMs) {
    throw query.to === undefined
      ? badRequest('from', 'from is in the past.')
      : badRequest('to', 'to is after from.');
  }
  if (Temporal.ZonedDateTime.compare(from.add({ days: MAX_DAYS }), to) < 0) {
    throw badRequest('from', `A range has at most ${MAX_DAYS} days.`);
  }
  return {
    from: dateFromMs(fromMs),
    to: dateFromMs(toMs),
    timezone,
    granularity: query.granularity,
    buckets: bucketsOf(fromMs, toMs, timezone, query.granularity),
  };
}

function bucketsOf(fromMs: number, toMs: number, timezone: string, granularity: Granularity) {
  const first = Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO(timezone).toPlainDate();
  const buckets: { date: string; start: Date }[] = [];
  for (let date = beginning(first, granularity); ; date = date.add(STEPS[granularity])) {
    const startMs = startOf(date, timezone).epochMilliseconds;
    if (startMs >= toMs) return buckets;
    buckets.push({ date: date.toString(), start: dateFromMs(startMs) });
  }
}

const STEPS = { DAY: { days: 1 }, WEEK: { days: 7 }, MONTH: { months: 1 } } as const;

/** Weeks begin on Monday. */
function beginning(date: Temporal.PlainDate, granularity: Granularity): Temporal.PlainDate {
  if (granularity === 'WEEK') return date.subtract({ days: date.dayOfWeek - 1 });
  return granularity === 'MONTH' ? date.with({ day: 1 }) : date;
}

/** Its first moment: not every day has a midnight. */
function startOf(date: Temporal.PlainDate, timezone: string): Temporal.ZonedDateTime {
  return date.toZonedDateTime({ timeZone: timezone });
}

/** The day that an end belongs to: midnight is the end of the day before, and begins its own. */
function dayOf(end: Temporal.ZonedDateTime, timezone: string): Temporal.PlainDate {
  const day = end.toPlainDate();
  return Temporal.ZonedDateTime.compare(startOf(day, timezone), end) === 0 ? day : day.add({ days: 1 });
}

function read(field: 'from' | 'to', text: string, timezone: string): Temporal.ZonedDateTime {
  try {
    if (DAY.test(text)) return within(field, startOf(Temporal.PlainDate.from(text), timezone));
    if (INSTANT.test(text)) return within(field, Temporal.Instant.from(text).toZonedDateTimeISO(timezone));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw badRequest(
    field,
    `${field} is a day such as 2026-11-20, or an instant such as 2026-11-20T09:00:00Z.`,
  );
}

const YEARS = { first: 1970, last: 9998 } as const;

function within(field: 'from' | 'to', moment: Temporal.ZonedDateTime): Temporal.ZonedDateTime {
  if (moment.year < YEARS.first || moment.year > YEARS.last) {
    throw badRequest(field, `${field} is in the years ${YEARS.first} to ${YEARS.last}.`);
  }
  return moment;
}
