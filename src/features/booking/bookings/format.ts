import type { BookingRow } from './repository.ts';

type Timed = Pick<BookingRow, 'starts_at' | 'ends_at' | 'first_starts_at' | 'timezone' | 'customer_timezone'>;

function inZone(date: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone }).format(date);
}

/** Formats the start in one zone: `Friday, 20 November 2026 at 10:00 (Europe/Berlin)`. */
export function formatStart(row: Timed, timeZone: string): string {
  const begins = row.starts_at ?? row.first_starts_at;
  return begins === null ? '' : `${inZone(begins, timeZone)} (${timeZone})`;
}

/** Formats the start for the customer, and for the creator when the zones differ. */
export function formatTimeLines(row: Timed): string[] {
  const own = row.customer_timezone ?? row.timezone;
  const first = `When: ${formatStart(row, own)}`;
  return own === row.timezone ? [first] : [first, `Creator's time: ${formatStart(row, row.timezone)}`];
}

/** Returns the product title with the start time, as shown to the buyer. */
export function titleOf(product: string, row: Timed): string {
  return `${product}, ${formatStart(row, row.customer_timezone ?? row.timezone)}`;
}
