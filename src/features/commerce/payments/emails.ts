import type { CustomerRow, PaymentRow, PurchaseRow } from './repository.ts';

/** Email without its recipient. */
interface EmailContent {
  kind: string;
  subject: string;
  text: string;
}

const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

/** Creates the email to the buyer about a refund: amount, initiator and arrival. */
export function refundEmail(
  refund: Pick<PaymentRow, 'amount_cents'>,
  about: { customer: Pick<CustomerRow, 'name'>; what: string; seller: string },
): EmailContent {
  const amount = dollars.format(-refund.amount_cents / 100);
  const { customer, what, seller } = about;
  return {
    kind: 'refund',
    subject: `${seller} has refunded you ${amount}`,
    text: `Hello${customer.name === null ? '' : ` ${customer.name}`},

${seller} has refunded ${amount} of your payment for "${what}". It goes to the card you paid with and arrives within five to ten days, depending on your bank.
`,
  };
}

/**
 * Creates the email to the creator, without amount and email address, which require the finance permission.
 */
export function disputeEmail({ id }: Pick<PurchaseRow, 'id'>, purchasesUrl: string): EmailContent {
  return {
    kind: 'dispute',
    subject: 'A payment was disputed',
    text: `A buyer has disputed a payment at the bank (purchase ${id}). Access to the purchase is suspended and the amount is held until the bank decides. Submit evidence to the payment provider soon: disputes without a response are lost. Open your payment account from ${purchasesUrl}
`,
  };
}
