import { dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../kernel/durations.ts';
import type { BookingRow, ProductRow } from './repository.ts';

/** Hold of a ONE_TO_ONE time until the customer presses Pay. */
export const HOLD_MS = 10 * MINUTE_MS;
/** Lifetime of a checkout for a class or cohort; it holds no seat. */
const OPEN_MS = 24 * HOUR_MS;
/** Time of the reminder before the start. */
export const REMINDER_MIN = 60;

export type CanceledBy = NonNullable<BookingRow['canceled_by']>;

/** Returns when the checkout of a booking expires: at the latest at the start. */
export function payableUntil(type: ProductRow['type'], now: Date, begins: Date): Date {
  const open = now.getTime() + (type === 'ONE_TO_ONE' ? HOLD_MS : OPEN_MS);
  return dateFromMs(Math.min(open, begins.getTime()));
}

/** Returns the time of a slot with its buffer. */
export function timeOf(product: Pick<ProductRow, 'duration_min' | 'buffer_min'>, startsAt: Date) {
  const endMs = startsAt.getTime() + product.duration_min * MINUTE_MS;
  return { startsAt, endsAt: dateFromMs(endMs), freeAt: dateFromMs(endMs + product.buffer_min * MINUTE_MS) };
}

/** Returns the time until which the customer can cancel with a full refund; null without a time. */
export function refundableUntil(
  row: Pick<BookingRow, 'first_starts_at' | 'refund_policy_days'>,
): Date | null {
  const { first_starts_at: first, refund_policy_days: days } = row;
  return first === null ? null : dateFromMs(first.getTime() - days * DAY_MS);
}

/**
 * Reports whether canceling a booking refunds it.
 *
 * @param wanted the decision of the creator; ignored for a customer.
 */
export function refundsAt(
  row: Pick<BookingRow, 'first_starts_at' | 'refund_policy_days'>,
  { by, wanted }: { by: CanceledBy; wanted: boolean | undefined },
  now: Date,
): boolean {
  if (by !== 'CUSTOMER') return wanted ?? true;
  const until = refundableUntil(row);
  return until === null || now <= until;
}

/** Returns the final status of a booking that has ended. */
export function outcomeOf(
  row: Pick<BookingRow, 'customer_joined_at' | 'creator_joined_at'>,
): 'COMPLETED' | 'NO_SHOW' {
  return row.customer_joined_at === null && row.creator_joined_at !== null ? 'NO_SHOW' : 'COMPLETED';
}

/** Reports whether a reminder is needed: not for bookings made within the last hour. */
export function isRemindable(startsAt: Date, now: Date): boolean {
  return startsAt.getTime() - now.getTime() > REMINDER_MIN * MINUTE_MS;
}

/** Lead time with which rooms are created. */
export const ROOM_BEFORE_MS = 15 * MINUTE_MS;
/** Time that a room stays open after the end. */
export const ROOM_AFTER_MS = HOUR_MS;

export type RoomState = 'EARLY' | 'OPEN' | 'OVER';

/** Returns whether the room of a booking or session is open now. */
export function roomStateOf(row: { starts_at: Date | null; ends_at: Date | null }, now: Date): RoomState {
  const { starts_at: from, ends_at: to } = row;
  if (from === null || to === null) return 'OVER';
  if (now.getTime() < from.getTime() - ROOM_BEFORE_MS) return 'EARLY';
  return now.getTime() < to.getTime() + ROOM_AFTER_MS ? 'OPEN' : 'OVER';
}
