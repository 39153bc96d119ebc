import type { CustomerRow, PaymentRow, PurchaseRow } from './repository.ts';

/** A mail without its addressee. */
interface Words {
  kind: string;
  subject: string;
  text: string;
}

const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

/** To the buyer: what was given back, by whom, and when it arrives. */
export function refundEmail(
  refund: Pick<PaymentRow, 'amount_cents'>,
  about: { customer: Pick<CustomerRow, 'name'>; what: string; seller: string },
): Words {
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

/** To the creator: no amount and no address, which are read where finance is allowed. */
export function disputeEmail({ id }: Pick<PurchaseRow, 'id'>, purchasesUrl: string): Words {
  return {
    kind: 'dispute',
    subject: 'A payment was disputed',
    text: `A buyer has disputed a payment at the bank (purchase ${id}). Access to the purchase is suspended and the amount is held until the bank decides. Submit evidence to the payment provider soon: disputes without a response are lost. Open your payment account from ${purchasesUrl}
`,
  };
}
