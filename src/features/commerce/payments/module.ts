import type { JobRun } from '../../../jobs/job.ts';
import type { Accounts } from '../../identity/accounts/index.ts';
import type { Mailbox, MailCaps } from '../../integration/mail/index.ts';
import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { Videos } from '../../video/videos/index.ts';
import type { Ledger } from '../ledger/index.ts';
import { createConnectAccounts } from './accounts.service.ts';
import { type CardService, type CollectedCard, createCardService } from './cards.service.ts';
import { createPaymentEmails } from './consumers.ts';
import { type CustomerDeletion, createCustomerDeletion } from './customer-deletion.service.ts';
import {
  paymentDisputeClosed,
  paymentDisputed,
  paymentEvents,
  paymentFailed,
  paymentRefunded,
  paymentSucceeded,
} from './events.ts';
import { deleteCustomersJob, settleRefundJob } from './jobs.ts';
import type { Providers } from './ports.ts';
import { sandboxPages } from './providers/sandbox/sandbox.pages.ts';
import { createSandbox, type Sandbox } from './providers/sandbox/sandbox.ts';
import { createStripe } from './providers/stripe/stripe.ts';
import { createPurchases } from './purchases.service.ts';
import { paymentRoutes, purchaseRoutes } from './routes.ts';
import { createPayments, type Payments } from './service.ts';
import { stripeWebhookPage } from './stripe.pages.ts';

export { testCardOf } from './providers/sandbox/cards.ts';
export { STRIPE_PAGES } from './providers/stripe/stripe.ts';

export const paymentsDeclarations: Declarations = {
  events: paymentEvents,
  jobs: [deleteCustomersJob, settleRefundJob],
};

interface PaymentsDeps
  extends Pick<Platform, 'clock' | 'config' | 'cursors' | 'db' | 'events' | 'jobs' | 'log'> {
  accounts: Accounts;
  ledger: Ledger;
  mailCaps: MailCaps;
  mailbox: Mailbox;
  videos: Videos;
  /** The holder of a card has given it at the provider. */
  onCardCollected(card: CollectedCard): Promise<void>;
}

/** Events of payments for other features. */
const payment = {
  succeeded: paymentSucceeded,
  failed: paymentFailed,
  refunded: paymentRefunded,
  disputed: paymentDisputed,
  disputeClosed: paymentDisputeClosed,
};

interface PaymentsExports {
  payments: Payments;
  cards: CardService;
  customerDeletion: CustomerDeletion;
  payment: typeof payment;
  /** Sandbox provider of simulated payments. */
  sandbox: Sandbox;
  /** Resolves where every provider can be asked. */
  pingProviders(): Promise<void>;
}

/** Charges, refunds and disputes, and the providers that move the money. */
export function createPaymentsModule(deps: PaymentsDeps): FeatureModule & PaymentsExports {
  const { config, accounts, cursors } = deps;
  const publicUrl = config.PUBLIC_URL;
  const sandbox = createSandbox({
    ...deps,
    publicUrl,
    async tell(hint, when) {
      if (when === 'NOW') await payments.hints.receive('SANDBOX', hint);
      else await payments.hints.keep('SANDBOX', hint);
    },
  });
  const stripe = stripeOf(deps);
  const providers: Providers = { SANDBOX: sandbox, STRIPE: stripe };
  const pingProviders = async () => {
    await Promise.all([sandbox.ping(), stripe?.ping()]);
  };
  const cards = createCardService({ ...deps, providers }, sandbox);
  const customerDeletion = createCustomerDeletion({ ...deps, providers });
  const connected = createConnectAccounts({ ...deps, providers, publicUrl });
  const payments: Payments = createPayments({
    ...deps,
    providers,
    takers: {
      account: (hint) => connected.refresh(hint.provider, hint.object_ref),
      async card({ provider, object_ref: ref, account_ref: accountRef }) {
        const card = await cards.collected({ provider, ref, accountRef });
        if (card !== null) await deps.onCardCollected(card);
      },
    },
  });
  const purchases = createPurchases({ ...deps, money: payments });
  const emailOf = async (accountId: string) => (await accounts.byId(accountId)).email;
  const shared = { purchases, accounts: connected, emailOf, cursors };
  return {
    payments,
    cards,
    customerDeletion,
    payment,
    sandbox,
    pingProviders,
    routes: () => [...purchaseRoutes(shared), ...paymentRoutes(shared)],
    pages: ({ assets }) => [
      sandboxPages({ sandbox, assets }),
      ...(stripe === null ? [] : [stripeWebhookPage({ stripe, hints: payments.hints })]),
    ],
    jobs: () => [
      { job: deleteCustomersJob, concurrency: 1, run: customerDeletion.run },
      {
        job: settleRefundJob,
        concurrency: 4,
        run: ({ payload }: JobRun<{ paymentId: string }>) => payments.trySettle(payload.paymentId),
      },
    ],
    consumers: createPaymentEmails({ ...deps, publicUrl }),
    tasks: () => [
      { name: 'Stripe event catch-up', everyMs: 10 * INTERVALS.minute, run: () => payments.hints.catchUp() },
      { name: 'provider payouts', everyMs: 10 * INTERVALS.minute, run: () => payments.payouts.sweep() },
      { name: 'payment hints', everyMs: 2 * INTERVALS.second, run: () => payments.hints.run() },
      { name: 'open payments', everyMs: INTERVALS.minute, run: () => payments.reconcile() },
    ],
  };
}

/** Null where the operator has not set it up. */
function stripeOf({ config, clock }: PaymentsDeps) {
  const {
    STRIPE_SECRET_KEY: secretKey,
    STRIPE_WEBHOOK_SECRET: webhookSecrets,
    STRIPE_API_URL: apiUrl,
  } = config;
  return secretKey === undefined
    ? null
    : createStripe({ secretKey, webhookSecrets, apiUrl: apiUrl ?? null, clock });
}
