import type { Stripe } from 'stripe';
import type { Payer, PaymentProvider } from '../provider.ts';
import { type Client, mapStripeErrors, nullIfNoSuchObject } from './client.ts';
import { CUSTOMER } from './mappers.ts';

/** Maximum number of Stripe customers read; several exist when the first request failed for a day. */
const MOST = 100;

/** Returns the Stripe customer, one per customer here, whichever payment comes first. */
export async function customerOf(stripe: Stripe, { id, email, ref }: Payer): Promise<string> {
  if (ref !== null) return ref;
  const params = { email, metadata: { [CUSTOMER]: id } };
  const made = await stripe.customers.create(params, { idempotencyKey: `customer:${id}` });
  return made.id;
}

/**
 * Returns the deletion of customers (https://docs.stripe.com/api/customers/delete), which removes cards and
 * leaves payments.
 */
export function deleteCustomer(client: Client): Pick<PaymentProvider, 'forgetCustomer'> {
  return {
    async forgetCustomer({ id, ref }) {
      const { customers } = await client();
      const query = `metadata['${CUSTOMER}']:'${id}'`;
      const { data } = await mapStripeErrors(customers.search({ query, limit: MOST }));
      const made = data.filter(({ metadata }) => metadata[CUSTOMER] === id).map((one) => one.id);
      for (const one of new Set([...made, ...(ref === null ? [] : [ref])]))
        await nullIfNoSuchObject(customers.del(one));
    },
  };
}
