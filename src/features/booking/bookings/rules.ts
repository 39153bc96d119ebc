import { dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../kernel/durations.ts';
import type { BookingRow, ProductRow } from './repository.ts';

/** How long a time of a ONE_TO_ONE is kept for somebody who has not pressed Pay. */
export const HOLD_MS = 10 * MINUTE_MS;
/** How long a checkout of a class or cohort is open; it keeps no seat. */
const OPEN_MS = 24 * HOUR_MS;
/** Before the start. */
export const REMINDER_MIN = 60;

export type CanceledBy = NonNullable<BookingRow['canceled_by']>;

/** When the checkout of a booking ends: nobody pays for what has begun. */
export function payableUntil(type: ProductRow['type'], now: Date, begins: Date): Date {
  const open = now.getTime() + (type === 'ONE_TO_ONE' ? HOLD_MS : OPEN_MS);
  return dateFromMs(Math.min(open, begins.getTime()));
}

/** The time of a slot; the buffer after it is the creator's. */
export function timeOf(product: Pick<ProductRow, 'duration_min' | 'buffer_min'>, startsAt: Date) {
  const endMs = startsAt.getTime() + product.duration_min * MINUTE_MS;
  return { startsAt, endsAt: dateFromMs(endMs), freeAt: dateFromMs(endMs + product.buffer_min * MINUTE_MS) };
}

/** Until when its customer can cancel and is given everything back; null where it has no time. */
export function refundableUntil(
  row: Pick<BookingRow, 'first_starts_at' | 'refund_policy_days'>,
): Date | null {
  const { first_starts_at: first, refund_policy_days: days } = row;
  return first === null ? null : dateFromMs(first.getTime() - days * DAY_MS);
}

/**
 * Is the money given back when a booking is canceled?
 *
 * @param wanted what a creator says; a customer is not asked.
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

/** What a booking counts as once its time is over. */
export function outcomeOf(
  row: Pick<BookingRow, 'customer_joined_at' | 'creator_joined_at'>,
): 'COMPLETED' | 'NO_SHOW' {
  return row.customer_joined_at === null && row.creator_joined_at !== null ? 'NO_SHOW' : 'COMPLETED';
}

/** Whoever books within the last hour needs no reminder. */
export function isRemindable(startsAt: Date, now: Date): boolean {
  return startsAt.getTime() - now.getTime() > REMINDER_MIN * MINUTE_MS;
}

/** Rooms are there so long before the start. */
export const ROOM_BEFORE_MS = 15 * MINUTE_MS;
/** A room is open so long after the end. */
export const ROOM_AFTER_MS = HOUR_MS;

export type RoomState = 'EARLY' | 'OPEN' | 'OVER';

/** Can people come into the room of this booking, or session, now? */
export function roomStateOf(row: { starts_at: Date | null; ends_at: Date | null }, now: Date): RoomState {
  const { starts_at: from, ends_at: to } = row;
  if (from === null || to === null) return 'OVER';
  if (now.getTime() < from.getTime() - ROOM_BEFORE_MS) return 'EARLY';
  return now.getTime() < to.getTime() + ROOM_AFTER_MS ? 'OPEN' : 'OVER';
}
