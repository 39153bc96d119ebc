import type { PaymentProvider } from '../provider.ts';
import { type Client, mapToUnavailable, nullIfNoSuchObject } from './client.ts';
import { expanded, METADATA_KEY } from './mappers.ts';

/** Returns the recovery of transfers to creators (https://docs.stripe.com/connect/destination-charges). */
export function transfers(client: Client): Pick<PaymentProvider, 'recover'> {
  return {
    async recover({ key, ref, amountCents }) {
      const stripe = await client();
      const parts = { expand: ['latest_charge.transfer'] };
      const intent = await nullIfNoSuchObject(stripe.paymentIntents.retrieve(ref, parts));
      if (intent?.transfer_data === null) return true;
      const transfer = expanded(expanded(intent?.latest_charge)?.transfer);
      if (transfer === null) return false;
      // Stripe stores idempotency keys for a day, and metadata permanently.
      if (transfer.reversals.data.some(({ metadata }) => metadata?.[METADATA_KEY] === key)) return true;
      const hasFee = (intent?.application_fee_amount ?? 0) > 0;
      const params = {
        amount: amountCents,
        metadata: { [METADATA_KEY]: key },
        ...(hasFee && { refund_application_fee: true }),
      };
      try {
        await stripe.transfers.createReversal(transfer.id, params, { idempotencyKey: key });
        return true;
      } catch (error) {
        mapToUnavailable(error);
        return false;
      }
    },
  };
}
