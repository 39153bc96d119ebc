import { dateFromMs } from '../../../kernel/clock.ts';
import { isIsoDate } from '../../../kernel/iso-date.ts';
import { normalizeTimezone } from '../../../kernel/timezone.ts';

/** A time that can be booked. */
export interface AvailableSlot {
  startsAt: Date;
  endsAt: Date;
  seatsLeft: number;
}

/** What a visitor has chosen so far; it stands in the address, so that it works without any script. */
export interface PickerSelection {
  /** IANA. */
  zone: string;
  /** `2026-11`. */
  month: string | null;
  /** `2026-11-30`, in the zone. */
  day: string | null;
  startsAt: Date | null;
  cohortId: string | null;
  /** What to wait for: `any`, a start or a cohort. */
  wait: string | null;
}

/** A month as it is shown, and what is free in it. */
export interface MonthView {
  month: string;
  /** Seven days a week from Monday on; null outside of the month. */
  weeks: (DayView | null)[][];
  previous: string | null;
  next: string | null;
  /** The day whose times are shown; null when nothing is free. */
  day: DayView | null;
}

export interface DayView {
  /** `2026-11-30`. */
  date: string;
  number: number;
  times: AvailableSlot[];
}

/** The zone of this name; another one when there is none. */
export function zoneOr(text: string, fallback: string): string {
  try {
    return text === '' ? fallback : normalizeTimezone(text);
  } catch {
    return fallback;
  }
}

/** Reads the address of a page; what makes no sense counts as not given. */
export function parseSelection(query: (name: string) => string, creatorZone: string): PickerSelection {
  const month = query('month');
  const day = query('day');
  const text = (name: string) => (query(name) === '' ? null : query(name).slice(0, 64));
  return {
    zone: zoneOr(query('zone'), creatorZone),
    month: isMonth(month) ? month : null,
    day: isIsoDate(day) ? day : null,
    startsAt: instantOf(query('start')),
    cohortId: text('cohort'),
    wait: text('wait'),
  };
}

/** Null for what is no instant. */
export function instantOf(text: string): Date | null {
  try {
    return dateFromMs(Temporal.Instant.from(text).epochMilliseconds);
  } catch {
    return null;
  }
}

function isMonth(text: string): boolean {
  return /^\d{4}-(0[1-9]|1[0-2])$/.test(text);
}

export function dayOf(at: Date, zone: string): string {
  return local(at, zone).toPlainDate().toString();
}

export function monthOf(at: Date, zone: string): string {
  return local(at, zone).toPlainDate().toPlainYearMonth().toString();
}

/** `to` is included. */
export function daysOfMonth(month: string): { from: string; to: string } {
  const first = Temporal.PlainYearMonth.from(month);
  return {
    from: first.toPlainDate({ day: 1 }).toString(),
    to: first.toPlainDate({ day: first.daysInMonth }).toString(),
  };
}

/**
 * @param bounds the first and the last month in which anything could be free.
 * @param chosen a day; by default the first with a free time.
 */
export function monthView(
  month: string,
  times: readonly AvailableSlot[],
  { zone, chosen, bounds }: { zone: string; chosen: string | null; bounds: { first: string; last: string } },
): MonthView {
  const byDay = Map.groupBy(times, ({ startsAt }) => dayOf(startsAt, zone));
  const first = Temporal.PlainYearMonth.from(month);
  const days = Array.from({ length: first.daysInMonth }, (_, index): DayView => {
    const date = first.toPlainDate({ day: index + 1 }).toString();
    return { date, number: index + 1, times: byDay.get(date) ?? [] };
  });
  const lead = first.toPlainDate({ day: 1 }).dayOfWeek - 1;
  const cells: (DayView | null)[] = [...Array.from({ length: lead }, () => null), ...days];
  while (cells.length % 7 !== 0) cells.push(null);
  const weeks = Array.from({ length: cells.length / 7 }, (_, week) => cells.slice(week * 7, week * 7 + 7));
  const day = days.find(({ date }) => date === chosen) ?? days.find((one) => one.times.length > 0) ?? null;
  return {
    month,
    weeks,
    previous: month > bounds.first ? first.subtract({ months: 1 }).toString() : null,
    next: month < bounds.last ? first.add({ months: 1 }).toString() : null,
    day,
  };
}

function local(at: Date, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(zone);
}
