import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { Nullable, OneOf } from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';

const data = namedSchema(
  'CheckoutEventData',
  Type.Object({
    checkoutId: Type.String(),
    kind: OneOf(VALUES.checkout.kind),
    tierId: Nullable(Type.String()),
    videoId: Nullable(Type.String()),
    bookingId: Nullable(Type.String()),
    subscriptionId: Nullable(Type.String()),
    clientReferenceId: Nullable(Type.String()),
    status: OneOf(VALUES.checkout.status),
    sequence: Type.Integer({ minimum: 1, description: 'Increases with each event about this checkout.' }),
  }),
);

const sample = {
  checkoutId: 'chk_01kafe3n4pfx2v9yq6m8d7t5zr',
  kind: 'SUBSCRIPTION',
  tierId: 'tier_01kafe3n4pfx2v9yq6m8d7t5zr',
  videoId: null,
  bookingId: null,
  subscriptionId: null,
  clientReferenceId: 'order-17',
  status: 'OPEN',
  sequence: 1,
} as const;

export const checkoutCreated = defineEvent({
  type: 'checkout.session.created',
  description: 'A checkout was created.',
  data,
  sample,
});

export const checkoutCompleted = defineEvent({
  type: 'checkout.session.completed',
  description: 'A checkout was completed: it was paid, or it is free.',
  data,
  sample: {
    ...sample,
    subscriptionId: 'sub_01kafe3n4pfx2v9yq6m8d7t5zr',
    status: 'COMPLETED',
    sequence: 2,
  },
});

export const checkoutExpired = defineEvent({
  type: 'checkout.session.expired',
  description: 'A checkout ended without payment: it expired or the buyer canceled it (`status`).',
  data,
  sample: { ...sample, status: 'EXPIRED', sequence: 2 },
});

export const checkoutEvents: EventDefinition[] = [checkoutCreated, checkoutCompleted, checkoutExpired];
