import { dateFromMs } from './clock.ts';

type Interval = 'MONTH' | 'YEAR';

/** From where the periods of a subscription are counted: neither moves for as long as it lasts. */
export interface BillingAnchor {
  anchorAt: Date;
  /** IANA zone. */
  timezone: string;
}

/** Months of a billing period. */
export const MONTHS: Readonly<Record<Interval, number>> = { MONTH: 1, YEAR: 12 };

/**
 * Returns the anchor's day and local time `months` months later. A month without that day uses its last day,
 * and the next one uses the original day again: 31 January, 28 February, 31 March
 * (docs/decisions/money.md#periods).
 */
export function monthsAfter({ anchorAt, timezone }: BillingAnchor, months: number): Date {
  return dateFromMs(zoned(anchorAt, timezone).add({ months }).epochMilliseconds);
}

/** Returns the instant with an equal local time `days` days later. */
export function daysAfter(at: Date, timezone: string, days: number): Date {
  return dateFromMs(zoned(at, timezone).add({ days }).epochMilliseconds);
}

export interface Period {
  /** Months from the anchor to its start. */
  month: number;
  start: Date;
  end: Date;
}

/**
 * Returns the period that begins `month` months after the anchor or, when that one has passed as well, the
 * current period: a time without a renewal is not charged.
 */
export function billingPeriodAt(
  anchor: BillingAnchor,
  interval: Interval,
  { month, now }: { month: number; now: Date },
): Period {
  const step = MONTHS[interval];
  let first = month;
  while (monthsAfter(anchor, first + step) <= now) first += step;
  return { month: first, start: monthsAfter(anchor, first), end: monthsAfter(anchor, first + step) };
}

function zoned(at: Date, timezone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timezone);
}
