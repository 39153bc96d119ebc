import { formatMoney } from '../../../kernel/format-money.ts';
import type { NewEmail } from '../../integration/mail/index.ts';
import { type CheckoutRow, listPriceOf } from './rules.ts';
import type { Seller } from './sellers.ts';

interface Receipt {
  row: CheckoutRow;
  seller: Seller;
  to: string;
  /** Date of the next charge of a subscription. */
  again: string | null;
  trialDays: number;
  /** Whether the buyer gave a card, which is charged then. */
  isCardGiven: boolean;
}

/** Creates the email after a checkout: item, amount, next charge, and how to cancel. */
export function receiptEmail({ row, seller, to, again, trialDays, isCardGiven }: Receipt): NewEmail {
  const paid = trialDays > 0 ? 0 : row.amount_cents;
  const lines = [
    `${row.title}, by ${seller.name}`,
    ...(row.discount_cents > 0 && trialDays === 0
      ? [
          `Price ${formatMoney(listPriceOf(row))}, less ${formatMoney(row.discount_cents)} by the code ${row.discount_code}`,
        ]
      : []),
    `Paid: ${formatMoney(paid)}${seller.mode === 'test' ? ' (test mode: nothing was charged)' : ''}`,
    `Order ID: ${row.id}`,
  ];
  const asked = isCardGiven
    ? ''
    : ' A card that was not saved for this subscription is charged only if you agree at that time.';
  const next =
    again === null
      ? 'No further payments are due.'
      : `${isCardGiven ? 'It renews automatically: the' : 'The'} next payment is on ${again}.${asked} You can cancel at any time.`;
  return {
    kind: 'receipt',
    to,
    subject: `Your receipt: ${row.title}`,
    text: `Thank you.

${lines.join('\n')}

${next}

See what you have, change your card or cancel here:

${seller.memberPage}
`,
  };
}
