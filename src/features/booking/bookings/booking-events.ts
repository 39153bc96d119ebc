import { nextSequence } from '../../../events/index.ts';
import {
  bookingCanceled,
  type bookingCompleted,
  type bookingConfirmed,
  type bookingCreated,
  type bookingExpired,
  type bookingNoShow,
  bookingReminder,
  bookingRescheduled,
} from './events.ts';
import type { TransactionContext } from './ports.ts';
import type { BookingRow } from './repository.ts';
import { REMINDER_MIN } from './rules.ts';

type Plain =
  | typeof bookingCreated
  | typeof bookingConfirmed
  | typeof bookingExpired
  | typeof bookingCompleted
  | typeof bookingNoShow;

async function dataOf({ tx }: TransactionContext, row: BookingRow) {
  return {
    bookingId: row.id,
    productId: row.product_id,
    cohortId: row.cohort_id,
    type: row.type,
    status: row.status,
    startsAt: row.starts_at?.toISOString() ?? null,
    endsAt: row.ends_at?.toISOString() ?? null,
    roomId: row.room_id,
    sequence: await nextSequence(tx, 'booking', row.id),
  };
}

/** Appends an event about the current state of a booking. */
export async function emitBookingEvent(
  work: TransactionContext,
  event: Plain,
  row: BookingRow,
): Promise<void> {
  await work.append(event, row.workspace_id, await dataOf(work, row));
}

export async function emitRescheduled(
  work: TransactionContext,
  row: BookingRow,
  moved: { from: Date; to: Date },
): Promise<void> {
  const times = { from: moved.from.toISOString(), to: moved.to.toISOString() };
  await work.append(bookingRescheduled, row.workspace_id, { ...(await dataOf(work, row)), ...times });
}

export async function emitCanceled(
  work: TransactionContext,
  row: BookingRow,
  canceledBy: NonNullable<BookingRow['canceled_by']>,
): Promise<void> {
  await work.append(bookingCanceled, row.workspace_id, { ...(await dataOf(work, row)), canceledBy });
}

export async function emitReminder(work: TransactionContext, row: BookingRow, startsAt: Date): Promise<void> {
  await work.append(bookingReminder, row.workspace_id, {
    bookingId: row.id,
    startsAt: startsAt.toISOString(),
    minutesBefore: REMINDER_MIN,
    sequence: await nextSequence(work.tx, 'booking', row.id),
  });
}
