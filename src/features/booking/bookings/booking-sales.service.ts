import { dateFromMs } from '../../../kernel/clock.ts';
import { MINUTE_MS } from '../../../kernel/durations.ts';
import { AppError, badRequest } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { rethrowNotFoundAs } from '../../../kernel/not-found.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { emitBookingEvent } from './booking-events.ts';
import type { BookingEmails } from './emails.ts';
import { bookingConfirmed, bookingCreated, bookingExpired } from './events.ts';
import { titleOf } from './format.ts';
import { parseIntakeAnswers } from './intake-answers.ts';
import * as members from './members.repository.ts';
import type { AvailableSlot, BookingPorts, HeldSpot, TransactionContext } from './ports.ts';
import type { BookingRow, ProductRow } from './repository.ts';
import * as repository from './repository.ts';
import { isRemindable, payableUntil, REMINDER_MIN, timeOf } from './rules.ts';
import type { ClassSeats } from './seats.ts';

/** Requested booking. */
export interface NewBooking {
  productId: string;
  /** Set for a ONE_TO_ONE or a class. */
  startsAt?: Date | undefined;
  cohortId?: string | undefined;
  /** The email address is lower-cased. */
  customer: { name: string; email: string; timezone: string | null };
  intakeAnswers?: Readonly<Record<string, unknown>> | null | undefined;
  /** Waitlist entry whose emailed link the buyer used; a typed address does not get a held spot. */
  waitlistEntryId: string | null;
}

/** Price of a booking for its customer. */
export interface BookingPrice {
  amountCents: number;
  discountCents: number;
  discountCode: string | null;
}

/** Bookable offer as of now. */
export interface BookingOffer {
  workspaceId: string;
  productId: string;
  priceCents: number;
  /** Start of the booking, or of its cohort. */
  begins: Date;
  input: NewBooking;
}

/** Booking operations that a checkout calls in its own transactions, under its own lock. */
export interface BookingSales {
  /**
   * Validates a requested booking.
   *
   * @throws {AppError} NOT_FOUND; BAD_REQUEST, fields `startsAt`, `cohortId`, `intakeAnswers.<key>`;
   *   CONFLICT, field `productId`, for a product that is not published, and `cohortId` for a cohort that does
   *   not accept members.
   */
  offer(workspaceId: string, input: NewBooking): Promise<BookingOffer>;
  /**
   * Creates a booking with status PENDING_PAYMENT. The time of a ONE_TO_ONE is held from now on; a class or
   * cohort holds no seat.
   *
   * @returns the title for the buyer and when the checkout expires.
   * @throws {AppError} CONFLICT, field `startsAt` or `cohortId`, when the spot is taken.
   */
  make(
    work: TransactionContext,
    offer: BookingOffer,
    price: BookingPrice,
  ): Promise<{ bookingId: string; title: string; expiresAt: Date }>;
  /**
   * Claims the seat, or the time of a booking whose hold has expired, for a buyer who pays now. The hold of a
   * ONE_TO_ONE is extended once.
   *
   * @param until requested end of the claim.
   * @returns when the claim expires, and the name of the customer; null when no spot is left.
   */
  claim(
    work: TransactionContext,
    bookingId: string,
    until: Date,
  ): Promise<{ until: Date; name: string } | null>;
  /**
   * Returns when the hold of a ONE_TO_ONE expires, null for types without a hold, and the time zone of the
   * buyer.
   */
  holdOf(bookingId: string): Promise<{ until: Date | null; timezone: string } | null>;
  /** Releases the claim of an unpaid checkout. A hold remains until it expires. */
  release(work: TransactionContext, bookingId: string): Promise<void>;
  /** Reports whether the booking still waits for the payment of its claim. */
  isPending(work: TransactionContext, bookingId: string): Promise<boolean>;
  reprice(work: TransactionContext, bookingId: string, price: BookingPrice): Promise<void>;
  /** Confirms a claimed booking. */
  confirm(
    work: TransactionContext,
    bookingId: string,
    paid: BookingPrice & { customerId: string; purchaseId: string | null; isMailed: boolean },
  ): Promise<void>;
  /** Expires the booking of a checkout that can no longer be paid. */
  expire(work: TransactionContext, bookingId: string): Promise<void>;
}

type Deps = BookingPorts & { seats: ClassSeats; letters: BookingEmails };

export function createBookingSales(deps: Deps): BookingSales {
  return {
    offer: (workspaceId, input) => offer(deps, workspaceId, input),
    make: (work, found, price) => make(deps, work, found, price),
    claim: (work, id, until) => claim(deps, work, id, until),
    async holdOf(id) {
      const row = await repository.findBooking(deps.db, id);
      return row === undefined
        ? null
        : { until: row.hold_expires_at, timezone: row.customer_timezone ?? row.timezone };
    },
    release: (work, id) => release(deps, work, id),
    isPending: async ({ tx }, id) => (await repository.lockBooking(tx, id))?.status === 'PENDING_PAYMENT',
    async reprice({ tx }, id, price) {
      await repository.updateBooking(tx, id, columnsOf(price));
    },
    confirm: (work, id, paid) => confirm(deps, work, id, paid),
    expire: (work, id) => expire(deps, work, id),
  };
}

const columnsOf = ({ amountCents, discountCents, discountCode }: BookingPrice) => ({
  amount_cents: amountCents,
  discount_cents: discountCents,
  discount_code: discountCode,
});

async function offer(deps: Deps, workspaceId: string, input: NewBooking): Promise<BookingOffer> {
  const product = await deps.products.get(workspaceId, input.productId).catch(rethrowNotFoundAs('productId'));
  assertSold(product);
  parseIntakeAnswers(product.intake_fields, input.intakeAnswers);
  const begins = await beginOf(deps, product, input);
  return { workspaceId, productId: product.id, priceCents: product.price_cents, begins, input };
}

function assertSold({ status }: ProductRow): void {
  if (status === 'PUBLISHED') return;
  throw new AppError('CONFLICT', { field: 'productId', message: 'The product is not published.' });
}

async function beginOf(deps: Deps, product: ProductRow, input: NewBooking): Promise<Date> {
  const { startsAt, cohortId } = input;
  if (product.type !== 'COHORT') {
    if (cohortId !== undefined) throw badRequest('cohortId', 'Only products of type COHORT have cohorts.');
    if (startsAt === undefined) throw badRequest('startsAt', 'startsAt is required.');
    return startsAt;
  }
  if (startsAt !== undefined) throw badRequest('startsAt', 'startsAt cannot be set for a cohort.');
  if (cohortId === undefined) throw badRequest('cohortId', 'cohortId is required.');
  const cohort = await deps.cohorts.get(product.workspace_id, cohortId).catch(rethrowNotFoundAs('cohortId'));
  if (cohort.product_id !== product.id)
    throw badRequest('cohortId', 'The cohort belongs to another product.');
  const place = { productId: product.id, cohortId, startsAt: null };
  const isOpen =
    cohort.status === 'OPEN' || (await isHeldForEntry(deps, deps.db, place, input.waitlistEntryId));
  const isOver = (cohort.enrollment_closes_at ?? cohort.starts_at) <= deps.clock.now();
  if (!isOpen || isOver) {
    const isFull = cohort.status === 'FULL' && !isOver;
    const message = isFull ? 'The cohort is full.' : 'This cohort is closed to new members.';
    throw new AppError('CONFLICT', { field: 'cohortId', message });
  }
  return cohort.starts_at;
}

async function make(deps: Deps, work: TransactionContext, found: BookingOffer, price: BookingPrice) {
  const { tx } = work;
  const { input, begins } = found;
  const product = await deps.products.hold(tx, found.productId);
  assertSold(product);
  const now = deps.clock.now();
  const slot = product.type === 'COHORT' ? null : await slotOf(deps, work, product, found);
  const expiresAt = payableUntil(product.type, now, begins);
  const row = await repository.insertBooking(tx, {
    id: newId('bkg', deps.clock),
    workspace_id: found.workspaceId,
    product_id: product.id,
    type: product.type,
    cohort_id: input.cohortId ?? null,
    status: 'PENDING_PAYMENT',
    starts_at: slot?.startsAt ?? null,
    ends_at: slot?.endsAt ?? null,
    first_starts_at: begins,
    timezone: await deps.timezoneOf(tx, found.workspaceId),
    customer_name: input.customer.name,
    customer_email: input.customer.email,
    customer_timezone: input.customer.timezone,
    waitlist_entry_id: input.waitlistEntryId,
    intake_answers: parseIntakeAnswers(product.intake_fields, input.intakeAnswers),
    ...columnsOf(price),
    refund_policy_days: product.refund_policy_days,
    replay_access_days: product.replay_access_days,
    hold_expires_at: product.type === 'ONE_TO_ONE' ? expiresAt : null,
    created_at: now,
    updated_at: now,
  });
  if (product.type === 'ONE_TO_ONE' && slot !== null) await hold(deps, work, row, slot);
  await emitBookingEvent(work, bookingCreated, row);
  return { bookingId: row.id, title: titleOf(product.title, row), expiresAt };
}

/** Reports whether the spot is held for the waitlist entry whose link is used. */
async function isHeldForEntry(
  { waitlist }: Deps,
  db: Db,
  place: HeldSpot,
  entryId: string | null,
): Promise<boolean> {
  return entryId !== null && (await waitlist.isKept(db, place, entryId));
}

/** Returns the slot of a ONE_TO_ONE or a class if it is offered, or held for this buyer. */
async function slotOf(deps: Deps, { tx }: TransactionContext, product: ProductRow, found: BookingOffer) {
  const {
    begins: startsAt,
    input: { waitlistEntryId },
  } = found;
  const place = { productId: product.id, cohortId: null, startsAt };
  const isAlone = product.type === 'ONE_TO_ONE';
  const isOwn = isAlone
    ? waitlistEntryId !== null && (await deps.waitlist.take(tx, place, waitlistEntryId))
    : await isHeldForEntry(deps, tx, place, waitlistEntryId);
  try {
    return await deps.slots.assertOffered(tx, product, startsAt);
  } catch (error) {
    const isTaken = error instanceof AppError && error.code === 'CONFLICT';
    if (!isOwn || isAlone || !isTaken) throw error;
    return timeOf(product, startsAt);
  }
}

async function hold(
  { calendar }: Deps,
  { tx }: TransactionContext,
  row: BookingRow,
  slot: AvailableSlot,
): Promise<void> {
  const { workspace_id: workspaceId, product_id: productId } = row;
  const { startsAt, freeAt } = slot;
  if (await calendar.take(tx, { workspaceId, productId, startsAt, freeAt, by: { bookingId: row.id } }))
    return;
  throw slotTakenError();
}

export function slotTakenError(): AppError {
  const message = 'This time is already booked. Choose another.';
  return new AppError('CONFLICT', { field: 'startsAt', message });
}

async function claim(deps: Deps, work: TransactionContext, id: string, until: Date) {
  const known = await repository.findBooking(work.tx, id);
  if (known === undefined || !isOpen(known)) return null;
  const begins = await repository.beginOf(work.tx, id);
  if (begins <= deps.clock.now()) return null;
  const kept = await extendHold(deps, work, known, begins < until ? begins : until);
  return kept === null ? null : { until: kept, name: known.customer_name };
}

/** @returns when the claim expires. */
async function extendHold(
  deps: Deps,
  work: TransactionContext,
  known: BookingRow,
  until: Date,
): Promise<Date | null> {
  if (known.type !== 'ONE_TO_ONE') return (await claimSeat(deps, work, known)) ? until : null;
  const row = await repository.lockBooking(work.tx, known.id);
  if (row === undefined || !isOpen(row)) return null;
  if (row.status === 'EXPIRED') return (await retake(deps, work, row)) ? until : null;
  if (row.hold_extended) return row.hold_expires_at;
  await repository.updateBooking(work.tx, row.id, { hold_expires_at: until, hold_extended: true });
  return until;
}

const isOpen = ({ status }: BookingRow) => status === 'PENDING_PAYMENT' || status === 'EXPIRED';

/** Takes the time again for a payment after the deadline. */
async function retake(deps: Deps, { tx }: TransactionContext, row: BookingRow): Promise<boolean> {
  const product = await repository.findProduct(tx, row.product_id);
  if (row.starts_at === null) return false;
  const { startsAt, freeAt } = timeOf(product, row.starts_at);
  const { workspace_id: workspaceId, product_id: productId } = row;
  return deps.calendar.take(tx, { workspaceId, productId, startsAt, freeAt, by: { bookingId: row.id } });
}

/** Claims a seat. A seat that is held for the waitlist entry of the booking is released for it. */
async function claimSeat(deps: Deps, work: TransactionContext, row: BookingRow): Promise<boolean> {
  const { product_id: productId, cohort_id: cohortId, starts_at: startsAt } = row;
  const { waitlist_entry_id: entryId } = row;
  const takeKept = async () =>
    entryId !== null && (await deps.waitlist.take(work.tx, { productId, cohortId, startsAt }, entryId));
  if (await claimAny(deps, work, row)) {
    await takeKept();
    return true;
  }
  return (await takeKept()) && (await claimAny(deps, work, row));
}

async function claimAny(deps: Deps, { tx }: TransactionContext, row: BookingRow): Promise<boolean> {
  if (row.cohort_id !== null) return deps.cohorts.seats.claim(tx, row.cohort_id);
  if (row.starts_at === null) return false;
  const product = await repository.findProduct(tx, row.product_id);
  const occurrence = await deps.seats.claim(tx, product, timeOf(product, row.starts_at));
  if (occurrence === null) return false;
  await repository.updateBooking(tx, row.id, { occurrence_id: occurrence.id });
  return true;
}

async function release(deps: Deps, { tx }: TransactionContext, id: string): Promise<void> {
  const row = await repository.lockBooking(tx, id);
  if (row === undefined) return;
  if (row.cohort_id !== null) await deps.cohorts.seats.release(tx, row.cohort_id);
  else if (row.occurrence_id !== null) await deps.seats.release(tx, row.occurrence_id);
  else if (row.status === 'EXPIRED') await deps.calendar.free(tx, { bookingId: id });
}

async function confirm(
  deps: Deps,
  work: TransactionContext,
  id: string,
  paid: BookingPrice & { customerId: string; purchaseId: string | null; isMailed: boolean },
): Promise<void> {
  const { tx } = work;
  const before = await repository.lockBooking(tx, id);
  if (before === undefined || !isOpen(before)) throw new Error(`booking ${id} cannot be confirmed`);
  if (before.cohort_id !== null) await deps.cohorts.seats.take(work, before.cohort_id);
  if (before.occurrence_id !== null) await deps.seats.take(tx, before.occurrence_id);
  const now = deps.clock.now();
  const isLate = before.starts_at !== null && !isRemindable(before.starts_at, now);
  const row = await repository.updateBooking(tx, id, {
    ...columnsOf(paid),
    status: 'CONFIRMED',
    hold_expires_at: null,
    customer_id: paid.customerId,
    purchase_id: paid.purchaseId,
    reminded_at: isLate ? now : null,
    ...(before.cohort_id === null ? {} : await knownOf(tx, before.cohort_id, now)),
    updated_at: now,
  });
  await emitBookingEvent(work, bookingConfirmed, row);
  if (paid.isMailed) await deps.letters.confirmed(tx, row);
}

/**
 * Returns the columns of a new member, who knows the current times and needs no reminder within the next
 * hour.
 */
async function knownOf(tx: Tx, cohortId: string, now: Date) {
  const { changeNo } = await members.changeOf(tx, cohortId);
  return {
    cohort_revision: changeNo,
    reminded_until: dateFromMs(now.getTime() + REMINDER_MIN * MINUTE_MS),
  };
}

async function expire(deps: Deps, work: TransactionContext, id: string): Promise<void> {
  const before = await repository.lockBooking(work.tx, id);
  if (before?.status !== 'PENDING_PAYMENT') return;
  await deps.calendar.free(work.tx, { bookingId: id });
  const row = await repository.updateBooking(work.tx, id, {
    status: 'EXPIRED',
    hold_expires_at: null,
    updated_at: deps.clock.now(),
  });
  await emitBookingEvent(work, bookingExpired, row);
}
