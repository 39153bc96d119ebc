import type { Static } from 'typebox';
import { type EventConsumer, on } from '../../../events/index.ts';
import type { paymentFailed, paymentSucceeded } from '../payments/index.ts';
import {
  complete,
  expireCheckout,
  lockCheckout,
  releaseAllReservations,
  releaseReservation,
  reserve,
} from './outcomes.ts';
import type { CheckoutPorts, TransactionContext } from './ports.ts';
import * as repository from './repository.ts';
import type { CheckoutRow } from './rules.ts';
import { sellerOf } from './sellers.ts';

interface Payment {
  succeeded: typeof paymentSucceeded;
  failed: typeof paymentFailed;
}

type PaymentData = Static<typeof paymentSucceeded.data>;

/** Creates the consumers that apply payment events to checkouts, in the transaction of the event. */
export function createCheckoutConsumers(ports: CheckoutPorts, payment: Payment): EventConsumer[] {
  const checkoutOf = async ({ tx }: TransactionContext, { purchaseId }: PaymentData) => {
    const purchase = await ports.payments.purchaseOf(tx, purchaseId);
    const row =
      purchase.checkout_id === null ? undefined : await lockCheckout(ports, { tx }, purchase.checkout_id);
    return row === undefined ? null : { purchase, row };
  };
  return [
    on(payment.succeeded, async (tx, { data }, append) => {
      const work = { tx, append };
      const found = await checkoutOf(work, data);
      if (found === null) return;
      const { purchase, row } = found;
      const reason = await whyRefunded(ports, work, row);
      if (reason !== null) {
        await refundLatePayment(ports, work, data, { workspaceId: row.workspace_id, reason });
        return;
      }
      const customer = await ports.payments.customerOf(tx, purchase.customer_id);
      const payment = await ports.payments.paymentOf(tx, data.paymentId);
      await complete(ports, work, row, {
        customer,
        purchaseId: purchase.id,
        subscriptionId: purchase.subscription_id,
        trialDays: 0,
        method: payment.payment_method,
        isMailed: row.amount_cents === 0 || (await isMailed(ports, customer, payment)),
      });
    }),
    on(payment.failed, async (tx, { data }, append) => {
      const found = await checkoutOf({ tx, append }, data);
      if (found?.row.payment_id !== data.paymentId) return;
      await releaseAllReservations(ports, { tx, append }, found.row);
    }),
  ];
}

/**
 * Determines why a payment is refunded because its item is no longer available.
 *
 * @returns the message for the buyer; null where the payment completes the checkout.
 */
async function whyRefunded(
  ports: CheckoutPorts,
  work: TransactionContext,
  row: CheckoutRow,
): Promise<string | null> {
  if (row.status === 'COMPLETED') return LATE;
  const { isSuspended } = await sellerOf(ports, work.tx, row.workspace_id);
  if (isSuspended || !(await repository.isForSale(work.tx, row.id))) {
    if (row.status === 'OPEN') await expireCheckout(ports, work, row, 'EXPIRED');
    return UNSOLD[row.kind];
  }
  return (await ensureReserved(ports, work, row)) ? null : LATE;
}

const LATE = 'The payment arrived after the checkout expired, and the item is no longer available.';
const UNSOLD = {
  VIDEO: 'The video was no longer for sale when the payment arrived.',
  SUBSCRIPTION: 'The tier no longer accepted members when the payment arrived.',
  BOOKING: 'The booking was no longer available when the payment arrived.',
} as const;

/**
 * Reports whether an email may be sent. A real payment always allows one, since it cannot be used to flood a
 * mailbox; sandbox payments cost nothing and are limited.
 */
async function isMailed(
  { mailCaps }: CheckoutPorts,
  { email }: { email: string },
  { provider }: { provider: string },
): Promise<boolean> {
  const isFree = await mailCaps.mayMail(email, null);
  return isFree || provider !== 'SANDBOX';
}

/**
 * Reports whether the spot and the use of the code are reserved. For a late payment they are reserved again.
 */
async function ensureReserved(
  ports: CheckoutPorts,
  work: TransactionContext,
  row: CheckoutRow,
): Promise<boolean> {
  const isPending = row.booking_id === null || (await ports.bookings.isPending(work, row.booking_id));
  if (row.reserved_until !== null && isPending) return true;
  const claimed = await reserve(ports, work, row);
  if ('until' in claimed) return true;
  if (claimed.missing === 'code') await releaseReservation(ports, work, row);
  return false;
}

/** Refunds a payment whose item is no longer available. */
async function refundLatePayment(
  { payments }: CheckoutPorts,
  { tx }: TransactionContext,
  told: PaymentData,
  { workspaceId, reason }: { workspaceId: string; reason: string },
): Promise<void> {
  await payments.refund(tx, {
    workspaceId,
    purchaseId: told.purchaseId,
    amountCents: null,
    reason,
    requestId: { own: 'late' },
  });
}
