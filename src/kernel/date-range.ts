import { dateFromMs } from './clock.ts';
import { DAY_MS, HOUR_MS, QUARTER_MS } from './durations.ts';
import { badRequest } from './errors.ts';
import { normalizeTimezone } from './timezone.ts';

export const GRANULARITIES = ['HOUR', 'DAY', 'WEEK', 'MONTH'] as const;
export type Granularity = (typeof GRANULARITIES)[number];

/** Moments from `from` until before `to`. */
export interface Interval {
  from: Date;
  to: Date;
}

/** Time range as in the query. */
export interface RangeQuery<G extends Granularity = Granularity> {
  /** A day (`2026-11-20`) or an instant. */
  from?: string;
  to?: string;
  timezone?: string;
  granularity: G;
}

/** A span of time in pieces. Both ends are on quarter-hours, which all days and hours begin on. */
export interface TimeRange<G extends Granularity = Granularity> extends Interval {
  /** Canonical. */
  timezone: string;
  granularity: G;
  /** Contiguous buckets, oldest first; the first may begin before `from`. */
  buckets: readonly Bucket[];
}

interface Bucket {
  /** The local day on which it begins; of hours, their beginning with its offset (`2026-10-25T02:00:00+01:00`). */
  date: string;
  start: Date;
}

const MAX_DAYS = 400;
const MAX_DAYS_BY_HOUR = 14;
const DEFAULT_DAYS = 28;
const DAY = /^\d{4}-\d\d-\d\d$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i;

/**
 * Reads `from`, `to`, `timezone` and `granularity` (docs/concepts/revenue.md#ranges): by default the last 28 days, today
 * included; at most 400.
 *
 * @throws {AppError} BAD_REQUEST, field `from`, `to`, `timezone` or `granularity`.
 */
export function parseDateRange<G extends Granularity>(query: RangeQuery<G>, nowMs: number): TimeRange<G> {
  const timezone = normalizeTimezone(query.timezone ?? 'UTC');
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
      ? badRequest('from', 'from must be in the past.')
      : badRequest('to', 'to must be after from.');
  }
  if (Temporal.ZonedDateTime.compare(from.add({ days: MAX_DAYS }), to) < 0) {
    throw badRequest('from', `The range must not exceed ${MAX_DAYS} days.`);
  }
  const isByHour = query.granularity === 'HOUR';
  if (isByHour && Temporal.ZonedDateTime.compare(from.add({ days: MAX_DAYS_BY_HOUR }), to) < 0) {
    throw badRequest(
      'granularity',
      `With hourly granularity, the range must not exceed ${MAX_DAYS_BY_HOUR} days.`,
    );
  }
  return {
    from: dateFromMs(fromMs),
    to: dateFromMs(toMs),
    timezone,
    granularity: query.granularity,
    buckets: bucketsOf(fromMs, toMs, timezone, query.granularity),
  };
}

/**
 * The span directly before a range, of equal length: as many local days where the range begins and ends with days,
 * as much time otherwise.
 */
export function previousRange({ from, to, timezone }: TimeRange): Interval {
  const [begin, end] = [zoned(from.getTime(), timezone), zoned(to.getTime(), timezone)];
  const isDays = [begin, end].every((moment) => startOf(moment.toPlainDate(), timezone).equals(moment));
  if (!isDays) return { from: dateFromMs(from.getTime() * 2 - to.getTime()), to: from };
  const { days } = begin.toPlainDate().until(end.toPlainDate(), { largestUnit: 'day' });
  return { from: toDate(startOf(begin.toPlainDate().subtract({ days }), timezone)), to: from };
}

/** The pieces of a range, cut off at its ends. */
export function clippedBuckets({ from, to, buckets }: TimeRange): Interval[] {
  const begins = buckets.map(({ start }) => (start < from ? from : start));
  return begins.map((begin, index) => ({ from: begin, to: begins[index + 1] ?? to }));
}

/**
 * Returns the whole UTC days of an interval (none: an empty interval) and the remaining intervals at its
 * ends.
 */
export function splitWholeDays({ from, to }: Interval): { days: Interval; edges: Interval[] } {
  const first = Math.ceil(from.getTime() / DAY_MS) * DAY_MS;
  const last = Math.floor(to.getTime() / DAY_MS) * DAY_MS;
  if (first >= last) return { days: { from, to: from }, edges: [{ from, to }] };
  const days = { from: dateFromMs(first), to: dateFromMs(last) };
  const edges = [
    { from, to: days.from },
    { from: days.to, to },
  ];
  return { days, edges: edges.filter((edge) => edge.from < edge.to) };
}

function bucketsOf(fromMs: number, toMs: number, timezone: string, granularity: Granularity): Bucket[] {
  if (granularity === 'HOUR') return hoursOf(zoned(fromMs, timezone), toMs);
  const first = zoned(fromMs, timezone).toPlainDate();
  const buckets: Bucket[] = [];
  for (let date = beginning(first, granularity); ; date = date.add(STEPS[granularity])) {
    const startMs = startOf(date, timezone).epochMilliseconds;
    if (startMs >= toMs) return buckets;
    buckets.push({ date: date.toString(), start: dateFromMs(startMs) });
  }
}

/** An hour ends where the clock shows the next one: it is half as long again where clocks are set by half an hour. */
function hoursOf(from: Temporal.ZonedDateTime, toMs: number): Bucket[] {
  const buckets: Bucket[] = [];
  let hour = from.round({ smallestUnit: 'hour', roundingMode: 'floor' });
  while (hour.epochMilliseconds < toMs) {
    buckets.push({ date: hour.toString({ timeZoneName: 'never' }), start: toDate(hour) });
    const startMs = hour.epochMilliseconds;
    hour = hour.add({ hours: 1 });
    while (hour.minute !== 0 && hour.epochMilliseconds - startMs < 2 * HOUR_MS)
      hour = hour.add({ minutes: 15 });
  }
  return buckets;
}

type DayGranularity = Exclude<Granularity, 'HOUR'>;
const STEPS = { DAY: { days: 1 }, WEEK: { days: 7 }, MONTH: { months: 1 } } as const;

/** Weeks begin on Monday. */
function beginning(date: Temporal.PlainDate, granularity: DayGranularity): Temporal.PlainDate {
  if (granularity === 'WEEK') return date.subtract({ days: date.dayOfWeek - 1 });
  return granularity === 'MONTH' ? date.with({ day: 1 }) : date;
}

const zoned = (ms: number, timezone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone);

const toDate = (moment: Temporal.ZonedDateTime): Date => dateFromMs(moment.epochMilliseconds);

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
    `${field} must be a date, such as 2026-11-20, or a date-time, such as 2026-11-20T09:00:00Z.`,
  );
}

const YEARS = { first: 1970, last: 9998 } as const;

function within(field: 'from' | 'to', moment: Temporal.ZonedDateTime): Temporal.ZonedDateTime {
  if (moment.year < YEARS.first || moment.year > YEARS.last) {
    throw badRequest(field, `${field} must be in the years ${YEARS.first} to ${YEARS.last}.`);
  }
  return moment;
}
