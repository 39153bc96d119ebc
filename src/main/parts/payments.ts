import type { Ledger } from '../../features/ledger/index.ts';
import {
  createPayments,
  createSandbox,
  type Payments,
  paymentDisputeClosed,
  paymentDisputed,
  paymentFailed,
  paymentRefunded,
  paymentSucceeded,
} from '../../features/payments/index.ts';
import { type Built, EVERY } from '../part.ts';
import type { Base } from '../wiring.ts';

/** What others hear of payments by. */
const payment = {
  succeeded: paymentSucceeded,
  failed: paymentFailed,
  refunded: paymentRefunded,
  disputed: paymentDisputed,
  disputeClosed: paymentDisputeClosed,
};

const nothing = () => Promise.resolve();

interface Needs extends Base {
  ledger: Ledger;
}

/** Charges, refunds and disputes, and the providers that move the money. */
export function paymentsPart(base: Needs): Built<{ payments: Payments; payment: typeof payment }> {
  const { config } = base;
  const sandbox = createSandbox({
    ...base,
    publicUrl: config.PUBLIC_URL,
    async tell(hint, when) {
      if (when === 'NOW') await payments.hints.receive('SANDBOX', hint);
      else await payments.hints.keep('SANDBOX', hint);
    },
  });
  const payments: Payments = createPayments({
    ...base,
    providers: { SANDBOX: sandbox, STRIPE: null },
    tellDispute: nothing,
    takers: { payout: nothing, account: nothing, card: nothing },
  });
  return {
    gives: { payments, payment },
    part: {
      tasks: () => [
        { name: 'payment hints', everyMs: 2 * EVERY.second, run: () => payments.hints.run() },
        { name: 'open payments', everyMs: EVERY.minute, run: () => payments.reconcile() },
      ],
    },
  };
}
