import { MINUTE_MS } from '../../../kernel/durations.ts';
import type { PaymentRow, PurchaseRow } from './repository.ts';

/** Time for a buyer to pay, including a second factor at the bank. */
export const PAY_WINDOW_MS = 30 * MINUTE_MS;
const LOOK_MIN_MS = MINUTE_MS;
const LOOK_MAX_MS = 10 * MINUTE_MS;

/**
 * Returns the platform fee of an amount, floored.
 *
 * @param hundredths hundredths of a percent, 0 to 10,000.
 */
export function feeOf(amountCents: number, hundredths: number): number {
  return Math.floor((amountCents * hundredths) / 10_000);
}

/** Returns the part of the fee that is returned after refunds of this amount: in proportion, floored. */
export function feeReturned(
  { amount_cents: amount, fee_cents: fee }: Pick<PurchaseRow, 'amount_cents' | 'fee_cents'>,
  refundedCents: number,
): number {
  if (amount === 0) return 0;
  return Number((BigInt(fee) * BigInt(refundedCents)) / BigInt(amount));
}

/** Returns the creator's net of a purchase: less refunds and the retained platform fee. */
export function netOf(row: PurchaseRow): number {
  return row.amount_cents - row.refunded_cents - (row.fee_cents - row.fee_refunded_cents);
}

/** Returns the poll interval, which grows with the age of the payment from a minute to ten. */
export function nextPollMs({ created_at: createdAt }: Pick<PaymentRow, 'created_at'>, nowMs: number): number {
  const pause = (nowMs - createdAt.getTime()) / 2;
  return nowMs + Math.min(LOOK_MAX_MS, Math.max(LOOK_MIN_MS, pause));
}

/** Returns the ID of the purchased video, booking or subscription. */
export function resourceOf(row: PurchaseRow): string | null {
  return row.video_id ?? row.booking_id ?? row.subscription_id;
}

/** Returns the status of a purchase after refunds of this amount. */
export function statusAfter(
  { amount_cents: amount }: Pick<PurchaseRow, 'amount_cents'>,
  refundedCents: number,
): 'PAID' | 'PARTIALLY_REFUNDED' | 'REFUNDED' {
  if (refundedCents === 0) return 'PAID';
  return refundedCents < amount ? 'PARTIALLY_REFUNDED' : 'REFUNDED';
}
