import type { PendingCharge } from '../../src/features/commerce/payments/charge.service.ts';
import type { NewCharge } from '../../src/features/commerce/payments/index.ts';
import { newId } from '../../src/kernel/ids.ts';
import type { PaymentMethod } from '../../src/platform/db/json-columns.ts';
import type { TestApp } from '../harness/app.ts';

/** Test cards of the sandbox (docs/guides/money.md#test-cards). */
export const CARDS = {
  pays: '4242 4242 4242 4242',
  declined: '4000 0000 0000 0002',
  poor: '4000 0000 0000 9995',
  secondFactor: '4000 0000 0000 3220',
  disputed: '4000 0000 0000 0259',
  declinedLater: '4000 0000 0000 0341',
  late: '4000 0000 0000 0119',
  toldTwice: '4000 0000 0000 0077',
} as const;

/** Creates a buyer of a workspace's videos, at 10 dollars each. */
export async function buyer(
  { container: { payments, events, db } }: Pick<TestApp, 'container'>,
  workspaceId: string,
  email = `${newId('cus')}@example.com`,
) {
  const customer = await events.transaction((tx) =>
    payments.customerFor(tx, workspaceId, { email, name: 'Grace' }),
  );
  /** Card that the buyer last saved for later charges. */
  let saved: PaymentMethod | null = null;
  /** @param card null: the saved one. */
  const begin = (card: string | null, more: Partial<NewCharge> = {}): Promise<PendingCharge> =>
    events.transaction((tx, append) =>
      payments.begin(tx, append, {
        workspaceId,
        customerId: customer.id,
        kind: 'VIDEO',
        videoId: newId('vid'),
        amountCents: 1000,
        discountCents: 0,
        discountCode: null,
        description: 'A film',
        key: newId('chk'),
        method: card === null ? saved : null,
        onSession:
          card === null
            ? null
            : {
                card,
                returnUrl: 'http://marquee.test/back',
                cancelUrl: 'http://marquee.test/',
                saveMethod: true,
              },
        ...more,
      }),
    );
  return {
    email,
    customer,
    begin,
    async pay(card: string | null, more: Partial<NewCharge> = {}) {
      const begun = await begin(card, more);
      const settled = await payments.settle(begun.paymentId);
      const { payment_method: method } = await payments.paymentOf(db, begun.paymentId);
      saved = method ?? saved;
      return { ...begun, settled, method };
    },
    statusOf: async (purchaseId: string) => (await payments.purchaseOf(db, purchaseId)).status,
  };
}
