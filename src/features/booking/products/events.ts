import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { OneOf } from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';

const shape = {
  productId: Type.String(),
  type: OneOf(VALUES.booking_product.type),
  title: Type.String(),
  status: OneOf(VALUES.booking_product.status),
  sequence: Type.Integer({ minimum: 1, description: 'Increases with each event about this product.' }),
};
const data = namedSchema('BookingProductEventData', Type.Object(shape));
const changes = Type.Record(Type.String(), Type.Object({ from: Type.Unknown(), to: Type.Unknown() }), {
  description: 'Changed fields with old and new values.',
});

const sample = {
  productId: 'bkp_01kafe3n4pfx2v9yq6m8d7t5zr',
  type: 'ONE_TO_ONE',
  title: 'An hour of coaching',
  status: 'DRAFT',
  sequence: 1,
} as const;

export const productCreated = defineEvent({
  type: 'booking.product.created',
  description: 'A booking product was created.',
  data,
  sample,
});

export const productUpdated = defineEvent({
  type: 'booking.product.updated',
  description: 'A booking product was changed.',
  data: Type.Object({ ...shape, changes }),
  sample: { ...sample, sequence: 2, changes: { title: { from: 'A talk', to: 'An hour of coaching' } } },
});

export const productPublished = defineEvent({
  type: 'booking.product.published',
  description: 'A booking product was published and can be booked.',
  data,
  sample: { ...sample, status: 'PUBLISHED', sequence: 3 },
});

export const productUnpublished = defineEvent({
  type: 'booking.product.unpublished',
  description:
    'A booking product was unpublished and can no longer be booked; existing bookings are unchanged.',
  data,
  sample: { ...sample, sequence: 4 },
});

export const productDeleted = defineEvent({
  type: 'booking.product.deleted',
  description: 'A booking product was archived, or deleted if it had never been booked.',
  data,
  sample: { ...sample, status: 'ARCHIVED', sequence: 5 },
});

export const productEvents: EventDefinition[] = [
  productCreated,
  productUpdated,
  productPublished,
  productUnpublished,
  productDeleted,
];
