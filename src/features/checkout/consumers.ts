import type { Static } from 'typebox';
import { type EventConsumer, on } from '../../events/index.ts';
import type { paymentFailed, paymentSucceeded } from '../payments/index.ts';
import { claim, complete, freeClaims, lockCheckout, releasePlace } from './outcomes.ts';
import type { CheckoutPorts, Work } from './ports.ts';
import type { CheckoutRow } from './rules.ts';

interface Payment {
  succeeded: typeof paymentSucceeded;
  failed: typeof paymentFailed;
}

type Told = Static<typeof paymentSucceeded.data>;

/** What payments mean for checkouts, in the transaction that tells of them. */
export function createCheckoutConsumers(ports: CheckoutPorts, payment: Payment): EventConsumer[] {
  const checkoutOf = async ({ tx }: Work, { purchaseId }: Told) => {
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
      if (row.status === 'COMPLETED' || !(await isHeld(ports, work, row))) {
        await giveBack(ports, work, row.workspace_id, data);
        return;
      }
      await complete(ports, work, row, {
        customer: await ports.payments.customerOf(tx, purchase.customer_id),
        purchaseId: purchase.id,
        subscriptionId: purchase.subscription_id,
        trialDays: 0,
        isCardGiven: true,
      });
    }),
    on(payment.failed, async (tx, { data }, append) => {
      const found = await checkoutOf({ tx, append }, data);
      if (found?.row.payment_id !== data.paymentId) return;
      await freeClaims(ports, { tx, append }, found.row);
    }),
  ];
}

/** Are the place and the use of the code there? They are claimed anew for money that comes after their time. */
async function isHeld(ports: CheckoutPorts, work: Work, row: CheckoutRow): Promise<boolean> {
  const isPending = row.booking_id === null || (await ports.bookings.isPending(work, row.booking_id));
  if (row.claimed_until !== null && isPending) return true;
  const claimed = await claim(ports, work, row);
  if ('until' in claimed) return true;
  if (claimed.missing === 'code') await releasePlace(ports, work, row);
  return false;
}

/** Money that came when there was nothing left to give for it. */
async function giveBack(
  { payments }: CheckoutPorts,
  { tx }: Work,
  workspaceId: string,
  told: Told,
): Promise<void> {
  await payments.refund(tx, {
    workspaceId,
    purchaseId: told.purchaseId,
    amountCents: null,
    reason: 'The payment came after the time to pay, and what it was for is not there any more.',
    requestId: { own: 'late' },
  });
}
