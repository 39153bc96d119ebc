import type { Ledger } from '../../features/commerce/ledger/index.ts';
import {
  type CardService,
  type CollectedCard,
  type CustomerDeletion,
  createCardService,
  createConnectAccounts,
  createCustomerDeletion,
  createPaymentEmails,
  createPayments,
  createPurchases,
  createSandbox,
  createStripe,
  deleteCustomersJob,
  type Payments,
  type Providers,
  paymentDisputeClosed,
  paymentDisputed,
  paymentFailed,
  paymentRefunded,
  paymentRoutes,
  paymentSucceeded,
  purchaseRoutes,
  type Sandbox,
  sandboxPages,
  settleRefundJob,
  stripeWebhookPage,
} from '../../features/commerce/payments/index.ts';
import type { Accounts } from '../../features/identity/accounts/index.ts';
import type { Mailbox, MailCaps } from '../../features/integration/mail/index.ts';
import type { Videos } from '../../features/video/videos/index.ts';
import type { JobRun } from '../../jobs/job.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

/** Events of payments for other features. */
const payment = {
  succeeded: paymentSucceeded,
  failed: paymentFailed,
  refunded: paymentRefunded,
  disputed: paymentDisputed,
  disputeClosed: paymentDisputeClosed,
};

interface Needs extends BaseContext {
  ledger: Ledger;
  accounts: Accounts;
  mailbox: Mailbox;
  mailCaps: MailCaps;
  videos: Videos;
  /** The holder of a card has given it at the provider. */
  onCardCollected(card: CollectedCard): Promise<void>;
}

interface Gives {
  payments: Payments;
  cards: CardService;
  customerForgetting: CustomerDeletion;
  payment: typeof payment;
  /** Sandbox provider of simulated payments. */
  sandbox: Sandbox;
  /** Resolves where every provider can be asked. */
  pingProviders(): Promise<void>;
}

/** Charges, refunds and disputes, and the providers that move the money. */
export function paymentsPart(base: Needs): ModuleWithExports<Gives> {
  const { config, accounts, cursors, videos } = base;
  const publicUrl = config.PUBLIC_URL;
  const sandbox = createSandbox({
    ...base,
    publicUrl,
    async tell(hint, when) {
      if (when === 'NOW') await payments.hints.receive('SANDBOX', hint);
      else await payments.hints.keep('SANDBOX', hint);
    },
  });
  const stripe = stripeOf(base);
  const providers: Providers = { SANDBOX: sandbox, STRIPE: stripe };
  const pingProviders = async () => {
    await Promise.all([sandbox.ping(), stripe?.ping()]);
  };
  const cards = createCardService({ ...base, providers }, sandbox);
  const customerForgetting = createCustomerDeletion({ ...base, providers });
  const connected = createConnectAccounts({ ...base, providers, publicUrl });
  const payments: Payments = createPayments({
    ...base,
    providers,
    takers: {
      account: (hint) => connected.refresh(hint.provider, hint.object_ref),
      async card({ provider, object_ref: ref, account_ref: accountRef }) {
        const card = await cards.collected({ provider, ref, accountRef });
        if (card !== null) await base.onCardCollected(card);
      },
    },
  });
  const purchases = createPurchases({ ...base, money: payments, videos });
  const emailOf = async (accountId: string) => (await accounts.byId(accountId)).email;
  const deps = { purchases, accounts: connected, emailOf, cursors };
  return {
    exports: { payments, cards, customerForgetting, payment, sandbox, pingProviders },
    module: {
      routes: () => [...purchaseRoutes(deps), ...paymentRoutes(deps)],
      pages: ({ assets }) => [
        sandboxPages({ sandbox, assets }),
        ...(stripe === null ? [] : [stripeWebhookPage({ stripe, hints: payments.hints })]),
      ],
      jobs: () => [
        { job: deleteCustomersJob, concurrency: 1, run: customerForgetting.run },
        {
          job: settleRefundJob,
          concurrency: 4,
          run: ({ payload }: JobRun<{ paymentId: string }>) => payments.trySettle(payload.paymentId),
        },
      ],
      consumers: createPaymentEmails({ ...base, publicUrl }),
      tasks: () => [
        { name: 'what Stripe told', everyMs: 10 * INTERVALS.minute, run: () => payments.hints.catchUp() },
        { name: 'payouts of providers', everyMs: 10 * INTERVALS.minute, run: () => payments.payouts.sweep() },
        { name: 'payment hints', everyMs: 2 * INTERVALS.second, run: () => payments.hints.run() },
        { name: 'open payments', everyMs: INTERVALS.minute, run: () => payments.reconcile() },
      ],
    },
  };
}

/** Null where the operator has not set it up. */
function stripeOf({ config, clock }: BaseContext) {
  const {
    STRIPE_SECRET_KEY: secretKey,
    STRIPE_WEBHOOK_SECRET: webhookSecrets,
    STRIPE_API_URL: apiUrl,
  } = config;
  return secretKey === undefined
    ? null
    : createStripe({ secretKey, webhookSecrets, apiUrl: apiUrl ?? null, clock });
}
