import type { Stripe } from 'stripe';
import type { Payer, PaymentProvider } from '../provider.ts';
import { type Client, mapStripeErrors, nullIfNoSuchObject } from './client.ts';
import { CUSTOMER } from './mappers.ts';

/** More than one was made where the first came to nothing for a day. */
const MOST = 100;

/** One for each of our customers, whichever payment is their first. */
export async function customerOf(stripe: Stripe, { id, email, ref }: Payer): Promise<string> {
  if (ref !== null) return ref;
  const params = { email, metadata: { [CUSTOMER]: id } };
  const made = await stripe.customers.create(params, { idempotencyKey: `customer:${id}` });
  return made.id;
}

/** https://docs.stripe.com/api/customers/delete: the cards go along, the payments stay. */
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
