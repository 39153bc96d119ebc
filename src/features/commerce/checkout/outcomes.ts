import { nextSequence } from '../../../events/index.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import type { PaymentMethod } from '../../../platform/db/json-columns.ts';
import { receiptEmail } from './emails.ts';
import { checkoutCompleted, type checkoutCreated, checkoutExpired } from './events.ts';
import type { CheckoutPorts, TransactionContext } from './ports.ts';
import * as repository from './repository.ts';
import { type CheckoutRow, listPriceOf, nextCharge, priceOf, RESERVATION_TTL_MS } from './rules.ts';
import { sellerOf } from './sellers.ts';

/** Appends an event about a checkout as it is by now. */
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
 * By id alone: it was found before, or its purchase names it. Its code comes first, as the deletion of the code takes
 * them; without it the code is gone by now, or the buyer has just chosen another.
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

/** What is kept for a buyer who pays, or what is not there any more. */
export type ReservationResult = { until: Date; name: string | null } | { missing: 'place' | 'code' };

/** Takes the place and the use of the code for a buyer who pays. */
export async function reserve(
  ports: CheckoutPorts,
  work: TransactionContext,
  row: CheckoutRow,
): Promise<ReservationResult> {
  const kept = await claimPlace(ports, work, row);
  if (kept === null) return { missing: 'place' };
  const { discount_code_id: codeId, discount_code: code } = row;
  // One that was deleted meanwhile takes nothing off any more.
  const isGood = codeId === null ? code === null : await ports.discountCodes.uses.claim(work.tx, codeId);
  return isGood ? kept : { missing: 'code' };
}

async function claimPlace(ports: CheckoutPorts, work: TransactionContext, row: CheckoutRow) {
  const until = dateFromMs(ports.clock.ms() + RESERVATION_TTL_MS);
  if (row.booking_id !== null) return ports.bookings.claim(work, row.booking_id, until);
  const isFree = row.tier_id === null || (await ports.places.claim(work.tx, row.tier_id));
  return isFree ? { until, name: null } : null;
}

/** The buyer does not pay: somebody else may have the place. */
export async function releaseReservation(
  ports: CheckoutPorts,
  work: TransactionContext,
  row: CheckoutRow,
): Promise<void> {
  if (row.tier_id !== null) await ports.places.release(work.tx, row.tier_id);
  if (row.booking_id !== null) await ports.bookings.release(work, row.booking_id);
}

/** Gives back what was claimed, if anything was. */
async function release(ports: CheckoutPorts, work: TransactionContext, row: CheckoutRow): Promise<void> {
  if (row.reserved_until === null) return;
  await releaseReservation(ports, work, row);
  const { discount_code_id: codeId } = row;
  if (codeId !== null) await ports.discountCodes.uses.release(work.tx, codeId);
}

/** Nobody pays any more: the place and the use of the code are free again. */
export async function releaseAllReservations(
  ports: CheckoutPorts,
  work: TransactionContext,
  row: CheckoutRow,
): Promise<void> {
  await release(ports, work, row);
  await repository.updateCheckout(work.tx, row.id, { reserved_until: null, payment_id: null });
}

/** How a checkout is completed; what is claimed for it is used up. */
export interface Completion {
  customer: { id: string; email: string };
  /** Null where nothing was due. */
  purchaseId: string | null;
  /** The id that the purchase was given for its subscription. */
  subscriptionId: string | null;
  trialDays: number;
  /** The card that was given for it, and is charged later. */
  method: PaymentMethod | null;
  /** False where the mailbox has received too many mails already. */
  isMailed: boolean;
}

/** Under the lock of the checkout, with its claims held. */
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
  // A booking that cost nothing is confirmed by its own mail.
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
  if (row.tier_id === null || row.interval === null) throw new Error(`checkout ${row.id} is of no tier`);
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

/** Ends a checkout that nobody paid. */
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
