import type { Selectable } from 'kysely';
import { HOUR_MS, MINUTE_MS } from '../../kernel/durations.ts';
import { AppError } from '../../kernel/errors.ts';
import type { CheckoutTable } from '../../platform/db/tables.generated.ts';

export type CheckoutRow = Selectable<CheckoutTable>;

/** How long a checkout of a tier or video is open. */
export const OPEN_MS = 24 * HOUR_MS;
/** How long a place and the use of a code are kept for a buyer who pays. */
export const CLAIM_MS = 30 * MINUTE_MS;
/** What the card networks charge at least, in cents. */
const MIN_CENTS = 50;

/** @throws {AppError} CONFLICT for an amount that no card can be charged with. */
export function assertChargeable(amountCents: number): void {
  if (amountCents === 0 || amountCents >= MIN_CENTS) return;
  const message = `Cards are charged with at least ${MIN_CENTS} cents; ${amountCents} would be due.`;
  throw new AppError('CONFLICT', { message });
}

/** What the tier or video cost when it was offered. */
export function listPriceOf(row: Pick<CheckoutRow, 'amount_cents' | 'discount_cents'>): number {
  return row.amount_cents + row.discount_cents;
}

/** As it stands now: the sweep that writes an end down comes a moment later. */
export function statusOf(row: CheckoutRow, now: Date): CheckoutRow['status'] {
  return row.status === 'OPEN' && row.payment_id === null && row.expires_at <= now ? 'EXPIRED' : row.status;
}

/** Where the buyer goes after the payment. */
export function successAddress(row: Pick<CheckoutRow, 'id' | 'success_url'>): string {
  const url = new URL(row.success_url);
  url.searchParams.append('checkout_id', row.id);
  return url.href;
}

/** When a subscription that begins now is charged next, as people read it. */
export function nextCharge(now: Date, row: Pick<CheckoutRow, 'interval'>, trialDays: number): string {
  const today = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO('UTC').toPlainDate();
  const length = row.interval === 'YEAR' ? { years: 1 } : { months: 1 };
  return today
    .add(trialDays > 0 ? { days: trialDays } : length)
    .toLocaleString('en-GB', { dateStyle: 'long' });
}
