import Type from 'typebox';
import { defineEvent } from '../../events/catalogue.ts';
import { named } from '../../http/named.ts';
import { Nullable, OneOf } from '../../http/schema.ts';
import { VALUES } from '../../platform/db/tables.generated.ts';

const data = named(
  'PaymentEventData',
  Type.Object({
    paymentId: Type.String({ description: 'The charge, refund or dispute.' }),
    purchaseId: Type.String(),
    kind: OneOf(VALUES.purchase.kind),
    resourceId: Nullable(
      Type.String({
        description:
          'The video, booking or subscription; null where the first charge of a subscription did not succeed.',
      }),
    ),
    status: OneOf(VALUES.purchase.status, { description: 'Of the purchase, from now on.' }),
    failureCode: Nullable(Type.String()),
    outcome: Nullable(OneOf(VALUES.payment.outcome, { description: 'Of a dispute that is over.' })),
    sequence: Type.Integer({ minimum: 1, description: 'Counts the events about this purchase.' }),
  }),
);

const sample = {
  paymentId: 'pay_01kafe3n4pfx2v9yq6m8d7t5zr',
  purchaseId: 'pur_01kafe3n4pfx2v9yq6m8d7t5zr',
  kind: 'VIDEO',
  resourceId: 'vid_01kafe3n4pfx2v9yq6m8d7t5zr',
  status: 'PAID',
  failureCode: null,
  outcome: null,
  sequence: 1,
} as const;

export const paymentSucceeded = defineEvent({
  type: 'payment.succeeded',
  description: 'A purchase was paid. What it costs is read from `GET /purchases`.',
  data,
  sample,
  notice: {
    severity: 'INFO',
    // Bookings and members are told of by notices of their own.
    words: ({ kind, purchaseId: id }) =>
      kind === 'VIDEO'
        ? {
            title: 'A video was sold',
            body: 'Somebody has paid for one of your videos.',
            resource: { type: 'PURCHASE', id },
          }
        : null,
  },
});

export const paymentFailed = defineEvent({
  type: 'payment.failed',
  description:
    'A charge was declined, or ended without success. The purchase may still be paid by another one.',
  data,
  sample: { ...sample, status: 'PENDING', failureCode: 'CARD_DECLINED' },
});

export const paymentRefunded = defineEvent({
  type: 'payment.refunded',
  description: 'A purchase was given back, in part or whole (`status`).',
  data,
  sample: { ...sample, status: 'REFUNDED', sequence: 2 },
});

export const paymentDisputed = defineEvent({
  type: 'payment.disputed',
  description:
    'The buyer has disputed a charge at the bank: what it paid for is suspended until that is decided.',
  data,
  sample: { ...sample, status: 'DISPUTED', sequence: 2 },
  notice: {
    // The creator has a mail of its own about it, with what to do.
    severity: 'WARNING',
    words: ({ purchaseId: id }) => ({
      title: 'A buyer disputes a charge',
      body: 'What was paid for is suspended until the bank has decided.',
      resource: { type: 'PURCHASE', id },
    }),
  },
});

export const paymentDisputeClosed = defineEvent({
  type: 'payment.dispute_closed',
  description:
    'A dispute was decided: won, and the purchase is as before it, or lost, and it counts as refunded.',
  data,
  sample: { ...sample, outcome: 'WON', sequence: 3 },
  notice: {
    severity: 'INFO',
    words: ({ purchaseId: id, outcome }) => ({
      title: outcome === 'WON' ? 'A dispute was won' : 'A dispute was lost',
      body: outcome === 'WON' ? 'The purchase is as it was before.' : 'The purchase counts as refunded.',
      resource: { type: 'PURCHASE', id },
    }),
  },
});

export const paymentEvents = [
  paymentSucceeded,
  paymentFailed,
  paymentRefunded,
  paymentDisputed,
  paymentDisputeClosed,
];

/** What others hear of payments by. */
export interface PaymentEvents {
  succeeded: typeof paymentSucceeded;
  failed: typeof paymentFailed;
  refunded: typeof paymentRefunded;
  disputed: typeof paymentDisputed;
  disputeClosed: typeof paymentDisputeClosed;
}
