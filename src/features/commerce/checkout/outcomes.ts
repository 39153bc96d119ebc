import { nextSequence } from '../../../events/index.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import type { PaymentMethod } from '../../../platform/db/json-columns.ts';
import { receiptEmail } from './emails.ts';
import { checkoutCompleted, type checkoutCreated, checkoutExpired } from './events.ts';
import type { CheckoutPorts, TransactionContext } from './ports.ts';
import * as repository from './repository.ts';
import { type CheckoutRow, listPriceOf, nextCharge, priceOf, RESERVATION_TTL_MS } from './rules.ts';
import { sellerOf } from './sellers.ts';

/** Appends an event with the current state of a checkout. */
export async function emitCheckoutEvent(
  { tx, append }: TransactionContext,
  event: typeof checkoutCreated | typeof checkoutCompleted | typeof checkoutExpired,
  row: CheckoutRow,
): Promise<void> {
  await append(event, row.workspace_id, {
    checkoutId: row.id,
    kind: row.kind,
    tierId: row.tier_id,
    videoId: row.video_id,
    bookingId: row.booking_id,
    subscriptionId: row.subscription_id,
    clientReferenceId: row.client_reference_id,
    status: row.status,
    sequence: await nextSequence(tx, 'checkout', row.id),
  });
}

/**
 * Locks a checkout by ID, which the caller has found before or taken from its purchase. The discount code is
 * locked first, in the order of its deletion; a code that cannot be locked is deleted by now, or the buyer
 * has just chosen another.
 */
export async function lockCheckout(
  { discountCodes }: CheckoutPorts,
  { tx }: Pick<TransactionContext, 'tx'>,
  id: string,
): Promise<CheckoutRow | undefined> {
  const codeId = await repository.findCodeId(tx, id);
  if (codeId !== null) await discountCodes.uses.hold(tx, codeId);
  return repository.lockCheckout(tx, id);
}

/** Reservation for a buyer who pays, or the item that is no longer available. */
export type ReservationResult = { until: Date; name: string | null } | { missing: 'place' | 'code' };

/** Reserves the spot and the use of the code for a buyer who pays. */
export async function reserve(
  ports: CheckoutPorts,
  work: TransactionContext,
  row: CheckoutRow,
): Promise<ReservationResult> {
  const kept = await claimPlace(ports, work, row);
  if (kept === null) return { missing: 'place' };
  const { discount_code_id: codeId, discount_code: code } = row;
  // A code that was deleted in the interim gives no discount.
  const isGood = codeId === null ? code === null : await ports.discountCodes.uses.claim(work.tx, codeId);
  return isGood ? kept : { missing: 'code' };
}

async function claimPlace(ports: CheckoutPorts, work: TransactionContext, row: CheckoutRow) {
  const until = dateFromMs(ports.clock.ms() + RESERVATION_TTL_MS);
  if (row.booking_id !== null) return ports.bookings.claim(work, row.booking_id, until);
  const isFree = row.tier_id === null || (await ports.places.claim(work.tx, row.tier_id));
  return isFree ? { until, name: null } : null;
}

/** Releases the spot or booking of a buyer who does not pay. */
export async function releaseReservation(
  ports: CheckoutPorts,
  work: TransactionContext,
  row: CheckoutRow,
): Promise<void> {
  if (row.tier_id !== null) await ports.places.release(work.tx, row.tier_id);
  if (row.booking_id !== null) await ports.bookings.release(work, row.booking_id);
}

/** Releases everything reserved for the checkout, if anything is. */
async function release(ports: CheckoutPorts, work: TransactionContext, row: CheckoutRow): Promise<void> {
  if (row.reserved_until === null) return;
  await releaseReservation(ports, work, row);
  const { discount_code_id: codeId } = row;
  if (codeId !== null) await ports.discountCodes.uses.release(work.tx, codeId);
}

/** Releases the spot and the use of the code, and clears the pending payment. */
export async function releaseAllReservations(
  ports: CheckoutPorts,
  work: TransactionContext,
  row: CheckoutRow,
): Promise<void> {
  await release(ports, work, row);
  await repository.updateCheckout(work.tx, row.id, { reserved_until: null, payment_id: null });
}

/** Result with which a checkout is completed; its reservations are consumed. */
export interface Completion {
  customer: { id: string; email: string };
  /** Null where nothing was due. */
  purchaseId: string | null;
  /** Subscription ID assigned to the purchase. */
  subscriptionId: string | null;
  trialDays: number;
  /** Card given for later charges. */
  method: PaymentMethod | null;
  /** False when the mailbox has received too many emails already. */
  isMailed: boolean;
}

/** Completes a checkout that the caller has locked and whose reservations are held. */
export async function complete(
  ports: CheckoutPorts,
  work: TransactionContext,
  row: CheckoutRow,
  done: Completion,
): Promise<CheckoutRow> {
  const { tx, append } = work;
  const subscriptionId = row.kind === 'SUBSCRIPTION' ? await beginSubscription(ports, work, row, done) : null;
  if (row.booking_id !== null) {
    const { id: customerId } = done.customer;
    const { purchaseId, isMailed } = done;
    const paid = { ...priceOf(row), customerId, purchaseId, isMailed };
    await ports.bookings.confirm(work, row.booking_id, paid);
  }
  const { discount_code_id: codeId } = row;
  if (codeId !== null) await ports.discountCodes.uses.use(tx, append, codeId, true);
  const after = await repository.updateCheckout(tx, row.id, {
    status: 'COMPLETED',
    completed_at: ports.clock.now(),
    customer_id: done.customer.id,
    customer_email: done.customer.email,
    purchase_id: done.purchaseId,
    subscription_id: subscriptionId,
    payment_id: null,
    reserved_until: null,
  });
  await emitCheckoutEvent(work, checkoutCompleted, after);
  // A free booking is confirmed by an email of its own.
  if (!done.isMailed || (row.kind === 'BOOKING' && row.amount_cents === 0)) return after;
  const seller = await sellerOf(ports, tx, row.workspace_id);
  const counted = { trialDays: done.trialDays, timezone: seller.timezone };
  const again = row.kind === 'SUBSCRIPTION' ? nextCharge(ports.clock.now(), row, counted) : null;
  await ports.mailbox.enqueue(
    tx,
    receiptEmail({
      ...{ row: after, seller, to: done.customer.email, again, trialDays: done.trialDays },
      isCardGiven: done.method !== null,
    }),
  );
  return after;
}

async function beginSubscription(
  { subscriptions }: CheckoutPorts,
  work: TransactionContext,
  row: CheckoutRow,
  { customer, purchaseId, subscriptionId, trialDays, method }: Completion,
): Promise<string> {
  if (row.tier_id === null || row.interval === null) throw new Error(`checkout ${row.id} has no tier`);
  const begun = await subscriptions.begin(work, {
    id: subscriptionId,
    workspaceId: row.workspace_id,
    customerId: customer.id,
    checkoutId: row.id,
    purchaseId,
    tierId: row.tier_id,
    priceCents: listPriceOf(row),
    interval: row.interval,
    trialDays,
    discountCents: row.discount_cents,
    discountCode: row.discount_code,
    clientReferenceId: row.client_reference_id,
    paymentMethod: method,
    wasClaimed: true,
  });
  return begun.id;
}

/** Ends an unpaid checkout. */
export async function expireCheckout(
  ports: CheckoutPorts,
  work: TransactionContext,
  row: CheckoutRow,
  status: 'EXPIRED' | 'CANCELED',
): Promise<CheckoutRow> {
  await release(ports, work, row);
  if (row.booking_id !== null) await ports.bookings.expire(work, row.booking_id);
  const ended = { status, reserved_until: null, payment_id: null };
  const after = await repository.updateCheckout(work.tx, row.id, ended);
  if (row.purchase_id !== null) await ports.payments.abandon(work.tx, row.purchase_id);
  await emitCheckoutEvent(work, checkoutExpired, after);
  return after;
}
