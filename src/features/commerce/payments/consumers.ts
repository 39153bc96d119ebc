import { type EventConsumer, on } from '../../../events/index.ts';
import type { Tx } from '../../../platform/db/index.ts';
import type { MailCaps } from '../../integration/mail/index.ts';
import { disputeEmail, refundEmail } from './emails.ts';
import { paymentDisputed, paymentRefunded } from './events.ts';
import { findSeller } from './purchases.repository.ts';
import * as repository from './repository.ts';

interface Deps {
  mailbox: {
    enqueue(tx: Tx, mail: { kind: string; to: string; subject: string; text: string }): Promise<void>;
  };
  mailCaps: Pick<MailCaps, 'mayMail'>;
  publicUrl: string;
}

/** Creates the consumers that send emails about refunds. */
export function createPaymentEmails({ mailbox, mailCaps, publicUrl }: Deps): EventConsumer[] {
  return [
    on(paymentRefunded, async (tx, { data, workspaceId }) => {
      const refund = await repository.getPayment(tx, data.paymentId);
      const purchase = await repository.findPurchase(tx, data.purchaseId);
      const charge = await repository.findPaidCharge(tx, data.purchaseId);
      const customer = purchase && (await repository.findCustomer(tx, purchase.customer_id));
      if (customer === undefined) return;
      const what = charge?.request.description ?? data.kind.toLowerCase();
      const { name: seller } = await findSeller(tx, workspaceId);
      const about = { customer, what, seller };
      if (!(await mailCaps.mayMail(customer.email, null))) return;
      await mailbox.enqueue(tx, { to: customer.email, ...refundEmail(refund, about) });
    }),
    on(paymentDisputed, async (tx, { data, workspaceId }) => {
      const { email: to } = await findSeller(tx, workspaceId);
      if (to === null) return;
      await mailbox.enqueue(tx, { to, ...disputeEmail({ id: data.purchaseId }, `${publicUrl}/dashboard`) });
    }),
  ];
}
