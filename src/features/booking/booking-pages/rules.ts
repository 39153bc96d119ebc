import { dateFromMs } from '../../../kernel/clock.ts';
import { isIsoDate } from '../../../kernel/iso-date.ts';
import { normalizeTimezone } from '../../../kernel/timezone.ts';

/** Slot that can be booked. */
export interface AvailableSlot {
  startsAt: Date;
  endsAt: Date;
  seatsLeft: number;
}

/** Current selection of a page viewer; stored in the URL, so that it works without scripts. */
export interface PickerSelection {
  /** IANA zone. */
  zone: string;
  /** Month, such as `2026-11`. */
  month: string | null;
  /** Day in the zone, such as `2026-11-30`. */
  day: string | null;
  startsAt: Date | null;
  cohortId: string | null;
  /** Waitlist target: `any`, a start time or a cohort ID. */
  wait: string | null;
}

/** Calendar month to display with its available slots. */
export interface MonthView {
  month: string;
  /** Weeks of seven days from Monday on; null outside of the month. */
  weeks: (DayView | null)[][];
  previous: string | null;
  next: string | null;
  /** Day whose times are shown; null when nothing is available. */
  day: DayView | null;
}

export interface DayView {
  /** Date, such as `2026-11-30`. */
  date: string;
  number: number;
  times: AvailableSlot[];
}

/** Returns the zone of this name, or the fallback. */
export function zoneOr(text: string, fallback: string): string {
  try {
    return text === '' ? fallback : normalizeTimezone(text);
  } catch {
    return fallback;
  }
}

/** Parses the query parameters of a page; invalid values are ignored. */
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

/** Parses an instant; null for invalid text. */
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

/** Returns the first and the last day of a month, both included. */
export function daysOfMonth(month: string): { from: string; to: string } {
  const first = Temporal.PlainYearMonth.from(month);
  return {
    from: first.toPlainDate({ day: 1 }).toString(),
    to: first.toPlainDate({ day: first.daysInMonth }).toString(),
  };
}

/**
 * @param bounds the first and the last month that can have slots.
 * @param chosen a day; by default the first with an available slot.
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
