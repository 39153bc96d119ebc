import type { Ledger } from '../../features/ledger/index.ts';
import {
  type CardService,
  createCardService,
  createPayments,
  createSandbox,
  createStripe,
  type Payments,
  paymentDisputeClosed,
  paymentDisputed,
  paymentFailed,
  paymentRefunded,
  paymentSucceeded,
  stripeWebhookPage,
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
  /** A customer has saved another card at the provider. */
  onCardKept(customerId: string): Promise<void>;
}

/** Charges, refunds and disputes, and the providers that move the money. */
export function paymentsPart(
  base: Needs,
): Built<{ payments: Payments; cards: CardService; payment: typeof payment }> {
  const { config } = base;
  const sandbox = createSandbox({
    ...base,
    publicUrl: config.PUBLIC_URL,
    async tell(hint, when) {
      if (when === 'NOW') await payments.hints.receive('SANDBOX', hint);
      else await payments.hints.keep('SANDBOX', hint);
    },
  });
  const stripe = stripeOf(base);
  const providers = { SANDBOX: sandbox, STRIPE: stripe };
  const cards = createCardService({ ...base, providers }, sandbox);
  const payments: Payments = createPayments({
    ...base,
    providers,
    tellDispute: nothing,
    takers: {
      payout: nothing,
      account: nothing,
      async card({ provider, object_ref: ref, account_ref: accountRef }) {
        const customerId = await cards.kept({ provider, ref, accountRef });
        if (customerId !== null) await base.onCardKept(customerId);
      },
    },
  });
  return {
    gives: { payments, cards, payment },
    part: {
      pages: () => (stripe === null ? [] : [stripeWebhookPage({ stripe, hints: payments.hints })]),
      tasks: () => [
        { name: 'what Stripe told', everyMs: 10 * EVERY.minute, run: () => payments.hints.catchUp() },
        { name: 'payment hints', everyMs: 2 * EVERY.second, run: () => payments.hints.run() },
        { name: 'open payments', everyMs: EVERY.minute, run: () => payments.reconcile() },
      ],
    },
  };
}

/** Null where the operator has not set it up. */
function stripeOf({ config, clock }: Base) {
  const {
    STRIPE_SECRET_KEY: secretKey,
    STRIPE_WEBHOOK_SECRET: webhookSecrets,
    STRIPE_API_URL: apiUrl,
  } = config;
  return secretKey === undefined
    ? null
    : createStripe({ secretKey, webhookSecrets, apiUrl: apiUrl ?? null, clock });
}
