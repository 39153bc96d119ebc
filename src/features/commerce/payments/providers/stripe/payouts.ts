import type { Stripe } from 'stripe';
import type { PaymentProvider } from '../provider.ts';
import { type Client, mapStripeErrors, mapToUnavailable, nullIfNoSuchObject } from './client.ts';
import { fromPayout, METADATA_KEY } from './mappers.ts';

type Payouts = Pick<PaymentProvider, 'fetchPayout' | 'payoutsSince' | 'payOut'>;

/** Maximum number of payouts read per check of an account. */
const LIST_MAX = 1000;

/**
 * Returns the payout operations from creators' balances at Stripe to their banks
 * (https://docs.stripe.com/connect/manual-payouts).
 */
export function payouts(client: Client): Payouts {
  return {
    async fetchPayout({ ref, accountRef }) {
      const stripe = await client();
      const options = accountRef === null ? {} : { stripeAccount: accountRef };
      const payout = await nullIfNoSuchObject(stripe.payouts.retrieve(ref, {}, options));
      return payout === null ? null : fromPayout(payout);
    },
    async payoutsSince(stripeAccount, at) {
      const stripe = await client();
      const asked = { created: { gte: Math.floor(at.getTime() / 1000) }, limit: 100 };
      const list = stripe.payouts.list(asked, { stripeAccount }).autoPagingToArray({ limit: LIST_MAX });
      // A closed account has none.
      const found = (await nullIfNoSuchObject(list)) ?? [];
      return found.map((payout) => ({ ref: payout.id, ...fromPayout(payout) }));
    },
    async payOut({ key, accountRef: stripeAccount, amountCents }) {
      const stripe = await client();
      const { available } = await mapStripeErrors(stripe.balance.retrieve({}, { stripeAccount }));
      const cents = available.filter(isInDollars).reduce((sum, { amount }) => sum + amount, 0);
      if (cents <= 0) return { status: 'REFUSED', message: 'No balance available for payout.' };
      if (amountCents !== null && amountCents > cents) return { status: 'TOO_MUCH' };
      const params = { amount: amountCents ?? cents, currency: 'usd', metadata: { [METADATA_KEY]: key } };
      const options = { stripeAccount, idempotencyKey: key };
      try {
        const made = await stripe.payouts.create(params, options);
        return { status: 'MADE', payout: { ref: made.id, ...fromPayout(made) } };
      } catch (error) {
        mapToUnavailable(error);
        return { status: 'REFUSED', message: 'Stripe currently does not allow payouts from this account.' };
      }
    },
  };
}

function isInDollars({ currency }: Stripe.Balance.Available): boolean {
  return currency === 'usd';
}
