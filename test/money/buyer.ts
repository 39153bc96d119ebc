import type { BegunCharge, NewCharge } from '../../src/features/payments/index.ts';
import { newId } from '../../src/kernel/ids.ts';
import type { TestApp } from '../harness/app.ts';
import type { TestAccount } from '../harness/factories.ts';

/** Somebody who buys videos of an account in its test mode. */
export async function buyer(app: TestApp, given?: TestAccount) {
  const { payments, events, db } = app.container;
  const account = given ?? (await app.createAccount());
  const email = `${newId('cus')}@example.com`;
  const customer = await events.transaction((tx) =>
    payments.customerFor(tx, account.test, { email, name: 'Ada' }),
  );

  const begin = (card: string | null, more: Partial<NewCharge> = {}): Promise<BegunCharge> =>
    events.transaction((tx, append) =>
      payments.begin(tx, append, {
        workspaceId: account.test,
        customerId: customer.id,
        kind: 'VIDEO',
        videoId: newId('vid'),
        amountCents: 1000,
        discountCents: 0,
        discountCode: null,
        description: 'A film',
        key: newId('chk'),
        onSession:
          card === null
            ? null
            : {
                card,
                returnUrl: 'http://marquee.test/',
                cancelUrl: 'http://marquee.test/',
                saveMethod: true,
              },
        ...more,
      }),
    );
  return {
    account,
    customer,
    begin,
    async pay(card: string | null, more: Partial<NewCharge> = {}) {
      const begun = await begin(card, more);
      return { ...begun, settled: await payments.settle(begun.paymentId) };
    },
    /** What the rows say, and what the sandbox has on record. */
    async statuses({ purchaseId, paymentId }: BegunCharge) {
      const purchase = await payments.purchaseOf(db, purchaseId);
      const payment = await db
        .selectFrom('payment')
        .selectAll()
        .where('id', '=', paymentId)
        .executeTakeFirstOrThrow();
      return { purchase: purchase.status, payment: payment.status };
    },
  };
}
