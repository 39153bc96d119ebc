import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { OneOf } from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';

const data = namedSchema(
  'SubscriberEventData',
  Type.Object({
    subscriberId: Type.String(),
    source: Type.String(),
    status: OneOf(VALUES.subscriber.status),
    sequence: Type.Integer({ minimum: 1, description: 'Increases with each event about this subscriber.' }),
  }),
);
const sample = { subscriberId: 'sbr_01kafe3n4pfx2v9yq6m8d7t5zr', source: 'API' };

export const subscriberAdded = defineEvent({
  type: 'subscriber.added',
  description: 'An email address was added to the list; a PENDING one is not confirmed yet.',
  data,
  sample: { ...sample, status: 'PENDING', sequence: 1 },
});

export const subscriberRemoved = defineEvent({
  type: 'subscriber.removed',
  description: 'An email address unsubscribed or was removed from the list.',
  data,
  sample: { ...sample, status: 'UNSUBSCRIBED', sequence: 2 },
});

export const subscriberEvents: EventDefinition[] = [subscriberAdded, subscriberRemoved];
