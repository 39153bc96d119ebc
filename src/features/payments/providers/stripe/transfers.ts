import type { PaymentProvider } from '../provider.ts';
import { KEY, whole } from './answers.ts';
import { type Client, known, unavailableUnlessRefused } from './asking.ts';

/** What was passed on to creators (https://docs.stripe.com/connect/destination-charges). */
export function transfers(client: Client): Pick<PaymentProvider, 'recover'> {
  return {
    async recover({ key, ref, amountCents }) {
      const stripe = await client();
      const parts = { expand: ['latest_charge.transfer'] };
      const intent = await known(stripe.paymentIntents.retrieve(ref, parts));
      if (intent?.transfer_data === null) return true;
      const transfer = whole(whole(intent?.latest_charge)?.transfer);
      if (transfer === null) return false;
      // Stripe knows keys for a day, and metadata for ever.
      if (transfer.reversals.data.some(({ metadata }) => metadata?.[KEY] === key)) return true;
      const hasFee = (intent?.application_fee_amount ?? 0) > 0;
      const params = {
        amount: amountCents,
        metadata: { [KEY]: key },
        ...(hasFee && { refund_application_fee: true }),
      };
      try {
        await stripe.transfers.createReversal(transfer.id, params, { idempotencyKey: key });
        return true;
      } catch (error) {
        unavailableUnlessRefused(error);
        return false;
      }
    },
  };
}
