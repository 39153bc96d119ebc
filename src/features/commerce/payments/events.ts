import Type from 'typebox';
import { defineEvent } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { Nullable, OneOf } from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';

const data = namedSchema(
  'PaymentEventData',
  Type.Object({
    paymentId: Type.String({ description: 'ID of the charge, refund or dispute.' }),
    purchaseId: Type.String(),
    kind: OneOf(VALUES.purchase.kind),
    resourceId: Nullable(
      Type.String({
        description:
          'ID of the video, booking or subscription; null if the first charge of a subscription failed.',
      }),
    ),
    status: OneOf(VALUES.purchase.status, { description: 'New status of the purchase.' }),
    failureCode: Nullable(Type.String()),
    outcome: Nullable(OneOf(VALUES.payment.outcome, { description: 'Outcome of a closed dispute.' })),
    sequence: Type.Integer({ minimum: 1, description: 'Increases with each event about this purchase.' }),
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
  description: 'A purchase was paid. Get the amount with `GET /purchases`.',
  data,
  sample,
  notice: {
    severity: 'INFO',
    // Bookings and members have notifications of their own.
    words: ({ kind, purchaseId: id }) =>
      kind === 'VIDEO'
        ? {
            title: 'Video sold',
            body: 'One of your videos was purchased.',
            resource: { type: 'PURCHASE', id },
          }
        : null,
  },
});

export const paymentFailed = defineEvent({
  type: 'payment.failed',
  description: 'A charge failed or was declined. The purchase can still be paid by another charge.',
  data,
  sample: { ...sample, status: 'PENDING', failureCode: 'CARD_DECLINED' },
});

export const paymentRefunded = defineEvent({
  type: 'payment.refunded',
  description: 'A purchase was refunded, fully or partially (`status`).',
  data,
  sample: { ...sample, status: 'REFUNDED', sequence: 2 },
});

export const paymentDisputed = defineEvent({
  type: 'payment.disputed',
  description:
    'The buyer disputed a charge at the bank. Access to the purchase is suspended until the dispute is decided.',
  data,
  sample: { ...sample, status: 'DISPUTED', sequence: 2 },
  notice: {
    // The creator gets an email of its own about it, with instructions.
    severity: 'WARNING',
    words: ({ purchaseId: id }) => ({
      title: 'Charge disputed',
      body: 'Access to the purchase is suspended until the bank decides.',
      resource: { type: 'PURCHASE', id },
    }),
  },
});

export const paymentDisputeClosed = defineEvent({
  type: 'payment.dispute_closed',
  description: 'A dispute was closed. If won, the purchase is restored; if lost, it counts as refunded.',
  data,
  sample: { ...sample, outcome: 'WON', sequence: 3 },
  notice: {
    severity: 'INFO',
    words: ({ purchaseId: id, outcome }) => ({
      title: outcome === 'WON' ? 'Dispute won' : 'Dispute lost',
      body: outcome === 'WON' ? 'The purchase has been restored.' : 'The purchase counts as refunded.',
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

/** Definitions of the payment events that other features consume. */
export interface PaymentEvents {
  succeeded: typeof paymentSucceeded;
  failed: typeof paymentFailed;
  refunded: typeof paymentRefunded;
  disputed: typeof paymentDisputed;
  disputeClosed: typeof paymentDisputeClosed;
}
