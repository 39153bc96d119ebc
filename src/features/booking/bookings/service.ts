import { dateFromMs } from '../../../kernel/clock.ts';
import { AppError, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import { emitBookingEvent, emitCanceled, emitRescheduled } from './booking-events.ts';
import { slotTakenError } from './booking-sales.service.ts';
import type { BookingEmails } from './emails.ts';
import { bookingCompleted, bookingNoShow } from './events.ts';
import type { BookingFilter } from './lists.repository.ts';
import type { BookingPorts, TransactionContext } from './ports.ts';
import type { BookingDetails, BookingRow } from './repository.ts';
import * as repository from './repository.ts';
import { type CanceledBy, isRemindable, outcomeOf, refundsAt } from './rules.ts';
import type { ClassSeats } from './seats.ts';

export interface Cancellation {
  by: CanceledBy;
  reason?: string | null | undefined;
  /** Decision of the creator; by default the payment is refunded. */
  refund?: boolean | undefined;
}

/** Bookings of a workspace (docs/concepts/bookings.md). An id that is not the workspace's is NOT_FOUND. */
export interface Bookings {
  list(workspaceId: string, filter: BookingFilter, page: PageRequest): Promise<BookingDetails[]>;
  get(workspaceId: string, id: string): Promise<BookingDetails>;
  /** Returns a booking by ID in any workspace, for signed links. @throws {AppError} NOT_FOUND. */
  byId(id: string): Promise<BookingDetails>;
  /**
   * Cancels a booking. Idempotent. @throws {AppError} CONFLICT unless it is CONFIRMED, and for a customer
   * once it has begun.
   */
  cancel(workspaceId: string, id: string, how: Cancellation): Promise<BookingDetails>;
  /**
   * Moves a booking to another offered slot: the old and the new time are swapped atomically. The payment
   * stays.
   *
   * @throws {AppError} CONFLICT when it has begun or is of a cohort, and, field `startsAt`, when the time is
   *   taken; BAD_REQUEST, field `startsAt`, when no slot begins then.
   */
  reschedule(workspaceId: string, id: string, startsAt: Date): Promise<BookingDetails>;
  /** @throws {AppError} CONFLICT before it has begun, or when it did not take place. */
  markNoShow(workspaceId: string, id: string): Promise<BookingDetails>;
  /** Records that a customer or host joined the room. */
  join(work: TransactionContext, id: string, who: 'CUSTOMER' | 'CREATOR'): Promise<void>;
  /** Completes a booking that has ended. */
  end(work: TransactionContext, id: string): Promise<void>;
  /** Cancels in the caller's transaction; a worker creates the refund. */
  cancelIn(work: TransactionContext, id: string, how: Cancellation): Promise<void>;
}

export type BookingDeps = BookingPorts & { seats: ClassSeats; letters: BookingEmails };

export function createBookings(deps: BookingDeps): Bookings {
  const { db, events } = deps;
  const get = async (workspaceId: string, id: string) => {
    const row = await repository.findBookingDetails(db, workspaceId, id);
    if (row === undefined) throw notFound();
    return row;
  };
  return {
    list: (workspaceId, filter, page) => repository.listBookingDetails(db, workspaceId, filter, page),
    get,
    async byId(id) {
      const row = await repository.findBooking(db, id);
      if (row === undefined) throw notFound();
      return get(row.workspace_id, id);
    },
    async cancel(workspaceId, id, how) {
      await get(workspaceId, id);
      const refundId = await events.transaction((tx, append) =>
        cancelIn(deps, { tx, append }, id, { ...how, isRefundAwaited: true }),
      );
      if (refundId !== null) await settleSoon(deps, refundId);
      return get(workspaceId, id);
    },
    async reschedule(workspaceId, id, startsAt) {
      await get(workspaceId, id);
      await events.transaction((tx, append) => reschedule(deps, { tx, append }, id, startsAt));
      return get(workspaceId, id);
    },
    async markNoShow(workspaceId, id) {
      await get(workspaceId, id);
      await events.transaction((tx, append) => markNoShow(deps, { tx, append }, id));
      return get(workspaceId, id);
    },
    join: (work, id, who) => join(deps, work, id, who),
    end: (work, id) => end(deps, work, id),
    async cancelIn(work, id, how) {
      await cancelIn(deps, work, id, { ...how, isRefundAwaited: false });
    },
  };
}

/** Settles the refund now; an unavailable provider is retried later. */
async function settleSoon({ payments, log }: BookingDeps, paymentId: string): Promise<void> {
  try {
    await payments.settle(paymentId);
  } catch (error) {
    log.warn({ err: error, paymentId }, 'a booking could not be refunded; will retry');
  }
}

async function lock(
  { tx }: TransactionContext,
  id: string,
  occurrenceId: string | null = null,
): Promise<BookingRow> {
  const row = await repository.lockBooking(tx, id, occurrenceId);
  if (row === undefined) throw notFound();
  return row;
}

const refuse = (message: string) => new AppError('CONFLICT', { message });

const NOT_CONFIRMED: Record<Exclude<BookingRow['status'], 'CONFIRMED'>, string> = {
  PENDING_PAYMENT: 'The booking has not been paid; it expires automatically.',
  COMPLETED: 'The booking has already taken place.',
  CANCELED: 'The booking has been canceled.',
  NO_SHOW: 'The booking has ended as a no-show.',
  EXPIRED: 'The booking expired because it was not paid.',
};

function assertConfirmed({ status }: BookingRow): void {
  if (status !== 'CONFIRMED') throw refuse(NOT_CONFIRMED[status]);
}

/** @returns the refund, if any; the caller that awaits it settles it. */
async function cancelIn(
  deps: BookingDeps,
  work: TransactionContext,
  id: string,
  { by, reason, refund: wanted, isRefundAwaited }: Cancellation & { isRefundAwaited: boolean },
): Promise<string | null> {
  const { tx } = work;
  const before = await lock(work, id);
  if (before.status === 'CANCELED') return null;
  assertConfirmed(before);
  const now = deps.clock.now();
  if (by === 'CUSTOMER' && (await repository.beginOf(tx, id)) <= now)
    throw refuse('The booking has already started.');
  await freePlace(deps, work, before);
  const row = await repository.updateBooking(tx, id, {
    status: 'CANCELED',
    canceled_by: by,
    cancel_reason: reason ?? null,
    ics_sequence: before.ics_sequence + 1,
    updated_at: now,
  });
  const refundId = refundsAt(before, { by, wanted }, now)
    ? await refund(deps, work, row, isRefundAwaited)
    : null;
  await emitCanceled(work, row, by);
  await deps.letters.canceled(tx, row, refundId !== null);
  return refundId;
}

async function freePlace(deps: BookingDeps, work: TransactionContext, row: BookingRow): Promise<void> {
  if (row.cohort_id !== null) await deps.cohorts.seats.leave(work, row.cohort_id);
  else if (row.occurrence_id !== null) await deps.seats.leave(work.tx, row.occurrence_id);
  else await deps.calendar.free(work.tx, { bookingId: row.id });
}

/** Refunds the remaining amount. @returns null when nothing is left to refund. */
async function refund(
  { payments }: BookingDeps,
  { tx }: TransactionContext,
  row: BookingRow,
  isSettledByCaller: boolean,
): Promise<string | null> {
  if (row.purchase_id === null || row.amount_cents === 0) return null;
  try {
    const { paymentId } = await payments.refund(tx, {
      workspaceId: row.workspace_id,
      purchaseId: row.purchase_id,
      amountCents: null,
      reason: 'The booking was canceled.',
      requestId: { own: 'cancel' },
      isSettledByCaller,
    });
    return paymentId;
  } catch (error) {
    // It was refunded before, or is disputed, where the bank decides.
    if (error instanceof AppError && error.code === 'CONFLICT') return null;
    throw error;
  }
}

async function reschedule(
  deps: BookingDeps,
  work: TransactionContext,
  id: string,
  startsAt: Date,
): Promise<void> {
  const { tx } = work;
  const known = await repository.findBooking(tx, id);
  if (known === undefined) throw notFound();
  if (known.type === 'COHORT')
    throw refuse("A cohort booking cannot be rescheduled: the cohort's sessions apply to all members.");
  const product = await deps.products.hold(tx, known.product_id);
  const slot = await deps.slots.assertOffered(tx, product, startsAt, { bookingId: id });
  // The old and the new class are locked together, in the same order by all transactions.
  const to =
    known.type === 'LIVE_CLASS'
      ? await repository.ensureOccurrence(tx, product, { id: newId('occ'), ...slot, now: deps.clock.now() })
      : null;
  const before = await lock(work, id, to);
  assertConfirmed(before);
  const from = before.starts_at;
  if (from !== null && from <= deps.clock.now()) throw refuse('The booking has already started.');
  if (from === null || from.getTime() === slot.startsAt.getTime()) return;
  const occurrenceId = await changePlace(deps, work, before, { product, slot });
  const firstMs = Math.min(slot.startsAt.getTime(), (before.first_starts_at ?? from).getTime());
  const row = await repository.updateBooking(tx, id, {
    starts_at: slot.startsAt,
    ends_at: slot.endsAt,
    occurrence_id: occurrenceId,
    rescheduled_from: from,
    first_starts_at: dateFromMs(firstMs),
    reminded_at: isRemindable(slot.startsAt, deps.clock.now()) ? null : deps.clock.now(),
    room_id: null,
    link_revision: before.link_revision + 1,
    ics_sequence: before.ics_sequence + 1,
    updated_at: deps.clock.now(),
  });
  await emitRescheduled(work, row, { from, to: slot.startsAt });
  await deps.letters.moved(tx, row);
}

type Slot = Awaited<ReturnType<BookingPorts['slots']['assertOffered']>>;

/** @returns the new class of the booking. */
async function changePlace(
  deps: BookingDeps,
  { tx }: TransactionContext,
  row: BookingRow,
  { product, slot }: { product: repository.ProductRow; slot: Slot },
): Promise<string | null> {
  if (row.type === 'ONE_TO_ONE') {
    if (await deps.calendar.move(tx, row.workspace_id, { bookingId: row.id }, slot)) return null;
    throw slotTakenError();
  }
  await deps.calendar.lock(tx, row.workspace_id);
  if (row.occurrence_id !== null) await deps.seats.leave(tx, row.occurrence_id);
  const occurrence = await deps.seats.claim(tx, product, slot);
  if (occurrence === null) throw slotTakenError();
  await deps.seats.take(tx, occurrence.id);
  return occurrence.id;
}

async function markNoShow(deps: BookingDeps, work: TransactionContext, id: string): Promise<void> {
  const before = await lock(work, id);
  if (before.status === 'NO_SHOW') return;
  if (before.status !== 'COMPLETED') assertConfirmed(before);
  if ((await repository.beginOf(work.tx, id)) > deps.clock.now()) {
    throw refuse('The booking has not started yet.');
  }
  const row = await repository.updateBooking(work.tx, id, {
    status: 'NO_SHOW',
    updated_at: deps.clock.now(),
  });
  await emitBookingEvent(work, bookingNoShow, row);
}

async function join(
  deps: BookingDeps,
  work: TransactionContext,
  id: string,
  who: 'CUSTOMER' | 'CREATOR',
): Promise<void> {
  const row = await lock(work, id);
  if (row.status !== 'CONFIRMED') return;
  const now = deps.clock.now();
  const change =
    who === 'CUSTOMER'
      ? { customer_joined_at: row.customer_joined_at ?? now }
      : { creator_joined_at: row.creator_joined_at ?? now };
  await repository.updateBooking(work.tx, id, change);
}

async function end(deps: BookingDeps, work: TransactionContext, id: string): Promise<void> {
  const before = await lock(work, id);
  if (before.status !== 'CONFIRMED') return;
  const status = outcomeOf(before);
  const row = await repository.updateBooking(work.tx, id, { status, updated_at: deps.clock.now() });
  await emitBookingEvent(work, status === 'COMPLETED' ? bookingCompleted : bookingNoShow, row);
}
