import { MINUTE_MS } from '../../../kernel/durations.ts';
import type { PaymentRow, PurchaseRow } from './repository.ts';

/** A buyer who pays has so long, a second factor at the bank included. */
export const PAY_WINDOW_MS = 30 * MINUTE_MS;
const LOOK_MIN_MS = MINUTE_MS;
const LOOK_MAX_MS = 10 * MINUTE_MS;

/**
 * Of an amount, what is the platform's: floored.
 *
 * @param hundredths hundredths of a percent, 0 to 10,000.
 */
export function feeOf(amountCents: number, hundredths: number): number {
  return Math.floor((amountCents * hundredths) / 10_000);
}

/** Of a fee, what has gone back when so much of the amount was refunded: in proportion, floored. */
export function feeReturned(
  { amount_cents: amount, fee_cents: fee }: Pick<PurchaseRow, 'amount_cents' | 'fee_cents'>,
  refundedCents: number,
): number {
  if (amount === 0) return 0;
  return Number((BigInt(fee) * BigInt(refundedCents)) / BigInt(amount));
}

/** What a purchase is worth to the creator by now: less refunds, and less what the platform keeps of its fee. */
export function netOf(row: PurchaseRow): number {
  return row.amount_cents - row.refunded_cents - (row.fee_cents - row.fee_refunded_cents);
}

/** Pauses between looks grow with the age of what is waited for, from a minute to ten. */
export function nextPollMs({ created_at: createdAt }: Pick<PaymentRow, 'created_at'>, nowMs: number): number {
  const pause = (nowMs - createdAt.getTime()) / 2;
  return nowMs + Math.min(LOOK_MAX_MS, Math.max(LOOK_MIN_MS, pause));
}

/** The video, booking or subscription that was bought. */
export function resourceOf(row: PurchaseRow): string | null {
  return row.video_id ?? row.booking_id ?? row.subscription_id;
}

/** What a purchase counts as once so much of it was given back. */
export function statusAfter(
  { amount_cents: amount }: Pick<PurchaseRow, 'amount_cents'>,
  refundedCents: number,
): 'PAID' | 'PARTIALLY_REFUNDED' | 'REFUNDED' {
  if (refundedCents === 0) return 'PAID';
  return refundedCents < amount ? 'PARTIALLY_REFUNDED' : 'REFUNDED';
}
