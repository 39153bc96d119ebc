/** The only place that reads the wall clock: everything else takes a `Clock`, so tests can move time. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  ms(): number;
  now(): Date;
}

export const systemClock: Clock = {
  ms: () => Date.now(),
  now: () => new Date(),
};

/** A date for a given epoch millisecond; keeps `new Date` in this file. */
export function dateFromMs(ms: number): Date {
  return new Date(ms);
}

/** A date for an instant as requests have it (RFC 3339); finer than milliseconds is cut off. */
export function dateFromText(instant: string): Date {
  return dateFromMs(Temporal.Instant.from(instant).epochMilliseconds);
}

/** `2026-11-20`: the UTC day of epoch milliseconds. */
export function utcDay(ms: number): string {
  return dateFromMs(ms).toISOString().slice(0, 10);
}
