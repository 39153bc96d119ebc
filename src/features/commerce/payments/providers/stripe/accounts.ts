import type { Stripe } from 'stripe';
import { dateFromMs } from '../../../../../kernel/clock.ts';
import type { PaymentProvider } from '../provider.ts';
import { type Client, mapStripeErrors, nullIfNoSuchObject } from './client.ts';
import { fromAccount } from './mappers.ts';

type Accounts = Pick<PaymentProvider, 'createAccount' | 'accountState' | 'onboardingLink' | 'dashboardLink'>;

/** The accounts of creators: Express ones, for which the platform pays the fees and bears the losses. */
export function accounts(client: Client): Accounts {
  return {
    async createAccount({ workspaceId, email }) {
      const stripe = await client();
      const params: Stripe.AccountCreateParams = {
        email,
        controller: {
          fees: { payer: 'application' },
          losses: { payments: 'application' },
          stripe_dashboard: { type: 'express' },
        },
        capabilities: { card_payments: { requested: true }, transfers: { requested: true } },
        metadata: { marquee_workspace: workspaceId },
      };
      const options = { idempotencyKey: `account:${workspaceId}` };
      return (await mapStripeErrors(stripe.accounts.create(params, options))).id;
    },
    async accountState(accountRef) {
      const stripe = await client();
      return fromAccount(await nullIfNoSuchObject(stripe.accounts.retrieve(accountRef)));
    },
    async onboardingLink({ accountRef, returnUrl, refreshUrl }) {
      const stripe = await client();
      const link = await mapStripeErrors(
        stripe.accountLinks.create({
          account: accountRef,
          type: 'account_onboarding',
          return_url: returnUrl,
          refresh_url: refreshUrl,
        }),
      );
      return { url: link.url, expiresAt: dateFromMs(link.expires_at * 1000) };
    },
    async dashboardLink(accountRef) {
      const stripe = await client();
      const { url } = await mapStripeErrors(stripe.accounts.createLoginLink(accountRef));
      return { url };
    },
  };
}
