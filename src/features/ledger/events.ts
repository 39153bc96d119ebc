import Type from 'typebox';
import { defineEvent } from '../../events/catalogue.ts';
import { named } from '../../http/named.ts';
import { Nullable, OneOf } from '../../http/schema.ts';

const data = named(
  'PayoutEventData',
  Type.Object({
    payoutId: Type.String(),
    status: OneOf(['PAID', 'FAILED']),
    failureCode: Nullable(Type.String()),
    sequence: Type.Integer({ minimum: 1, description: 'Counts the events about this payout.' }),
  }),
);
const payoutId = 'pyo_01kafe3n4pfx2v9yq6m8d7t5zr';

export const payoutPaid = defineEvent({
  type: 'payout.paid',
  description: 'A payout has reached the bank of the creator. Its amount is read with `GET /me/payouts`.',
  data,
  sample: { payoutId, status: 'PAID', failureCode: null, sequence: 1 },
});

export const payoutFailed = defineEvent({
  type: 'payout.failed',
  description: 'A payout came back from the bank: its money is on the balance again.',
  data,
  sample: { payoutId, status: 'FAILED', failureCode: 'account_closed', sequence: 1 },
  notice: {
    severity: 'CRITICAL',
    words: ({ payoutId: id, failureCode }) => ({
      title: 'A payout came back',
      body: `The bank did not take it${failureCode === null ? '' : ` (${failureCode})`}. The money is on the balance again: look at the bank account that payouts go to.`,
      resource: { type: 'PAYOUT', id },
    }),
  },
});

export const payoutEvents = [payoutPaid, payoutFailed];
