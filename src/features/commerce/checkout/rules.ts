import type { Selectable } from 'kysely';
import { HOUR_MS, MINUTE_MS } from '../../../kernel/durations.ts';
import { AppError } from '../../../kernel/errors.ts';
import { daysAfter, MONTHS, monthsAfter } from '../../../kernel/periods.ts';
import type { CheckoutTable } from '../../../platform/db/tables.generated.ts';

export type CheckoutRow = Selectable<CheckoutTable>;

/** Lifetime of a checkout of a tier or video. */
export const CHECKOUT_TTL_MS = 24 * HOUR_MS;
/** Time for which a spot and the use of a code are reserved for a buyer who pays. */
export const RESERVATION_TTL_MS = 30 * MINUTE_MS;
/** Minimum charge of the card networks, in cents. */
const MIN_CENTS = 50;

/** @throws {AppError} CONFLICT for an amount that no card can be charged with. */
export function assertChargeable(amountCents: number): void {
  if (amountCents === 0 || amountCents >= MIN_CENTS) return;
  const message = `The minimum card charge is ${MIN_CENTS} cents; ${amountCents} would be due.`;
  throw new AppError('CONFLICT', { message });
}

/** Returns the price of the tier, video or booking before the discount. */
export function listPriceOf(row: Pick<CheckoutRow, 'amount_cents' | 'discount_cents'>): number {
  return row.amount_cents + row.discount_cents;
}

/** Returns the amount to pay and the discount of a code. */
export function priceOf(row: Pick<CheckoutRow, 'amount_cents' | 'discount_cents' | 'discount_code'>) {
  return {
    amountCents: row.amount_cents,
    discountCents: row.discount_cents,
    discountCode: row.discount_code,
  };
}

/** Returns the current status: the sweep stores an expiry a moment later. */
export function statusOf(row: CheckoutRow, now: Date): CheckoutRow['status'] {
  return row.status === 'OPEN' && row.payment_id === null && row.expires_at <= now ? 'EXPIRED' : row.status;
}

/** Returns the URL to which the buyer is redirected after the payment. */
export function successUrl(row: Pick<CheckoutRow, 'id' | 'success_url'>): string {
  const url = new URL(row.success_url);
  url.searchParams.append('checkout_id', row.id);
  return url.href;
}

/**
 * Returns the next charge date of a subscription that begins now, as text. Days are counted in the creator's time zone
 * (docs/decisions/money.md#periods), so the text names the zone.
 */
export function nextCharge(
  now: Date,
  { interval }: Pick<CheckoutRow, 'interval'>,
  { trialDays, timezone }: { trialDays: number; timezone: string },
): string {
  const at =
    trialDays > 0
      ? daysAfter(now, timezone, trialDays)
      : monthsAfter({ anchorAt: now, timezone }, MONTHS[interval ?? 'MONTH']);
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: timezone }).format(at);
  return `${day} (time zone ${timezone})`;
}
