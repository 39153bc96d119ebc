import Type from 'typebox';
import { defineEvent } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { Nullable, OneOf } from '../../../http/schema.ts';

const data = namedSchema(
  'PayoutEventData',
  Type.Object({
    payoutId: Type.String(),
    status: OneOf(['PAID', 'FAILED']),
    failureCode: Nullable(Type.String()),
    sequence: Type.Integer({ minimum: 1, description: 'Increases with each event about this payout.' }),
  }),
);
const payoutId = 'pyo_01kafe3n4pfx2v9yq6m8d7t5zr';

export const payoutPaid = defineEvent({
  type: 'payout.paid',
  description: "A payout reached the creator's bank. Get its amount with `GET /me/payouts`.",
  data,
  sample: { payoutId, status: 'PAID', failureCode: null, sequence: 1 },
});

export const payoutFailed = defineEvent({
  type: 'payout.failed',
  description: 'A payout failed and was returned to the balance.',
  data,
  sample: { payoutId, status: 'FAILED', failureCode: 'account_closed', sequence: 1 },
  notice: {
    severity: 'CRITICAL',
    words: ({ payoutId: id, failureCode }) => ({
      title: 'Payout failed',
      body: `The bank rejected the payout${failureCode === null ? '' : ` (${failureCode})`}. The amount is back in your balance. Check the bank account for payouts.`,
      resource: { type: 'PAYOUT', id },
    }),
  },
});

export const payoutEvents = [payoutPaid, payoutFailed];
