import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { SubscriptionEventName } from './transitions.rules.ts';

const fields = {
  subscriptionId: Type.String(),
  tierId: Type.String(),
  status: OneOf(VALUES.subscription.status),
  currentPeriodEnd: Instant,
  cancelAtPeriodEnd: Type.Boolean(),
  clientReferenceId: Nullable(Type.String()),
  sequence: Type.Integer({ minimum: 1, description: 'Increases with each event about this subscription.' }),
};
const data = namedSchema('SubscriptionEventData', Type.Object(fields));
const sample = {
  subscriptionId: 'sub_01kafe3n4pfx2v9yq6m8d7t5zr',
  tierId: 'tier_01kafe3n4pfx2v9yq6m8d7t5zr',
  status: 'ACTIVE',
  currentPeriodEnd: '2026-12-20T09:00:00.000Z',
  cancelAtPeriodEnd: false,
  clientReferenceId: null,
  sequence: 2,
} as const;

export const subscriptionCreated = defineEvent({
  type: 'subscription.created',
  description: 'A subscription was created with status TRIALING or ACTIVE.',
  data,
  sample: { ...sample, sequence: 1 },
  notice: {
    severity: 'INFO',
    words: ({ subscriptionId: id }) => ({
      title: 'New member',
      body: 'Someone subscribed to one of your tiers.',
      resource: { type: 'SUBSCRIPTION', id },
    }),
  },
});

export const subscriptionUpdated = defineEvent({
  type: 'subscription.updated',
  description: 'The tier of a subscription changed, or will change with the next period.',
  data: Type.Object({
    ...fields,
    changes: Type.Record(Type.String(), Type.Object({ from: Type.Unknown(), to: Type.Unknown() }), {
      description: 'Old and new value of `tierId`, or of `pendingTierId` for the next period.',
    }),
  }),
  sample: {
    ...sample,
    changes: { tierId: { from: 'tier_01kafe3n4pfx2v9yq6m8d7t5zq', to: 'tier_01kafe3n4pfx2v9yq6m8d7t5zr' } },
  },
});

const transitionEvent = (
  type: string,
  description: string,
  change: { status?: 'PAST_DUE' | 'CANCELED' | 'EXPIRED' } = {},
) => defineEvent({ type, description, data, sample: { ...sample, ...change } });

/** Adds a notification for people. */
const ended = (body: string): Pick<EventDefinition<typeof data>, 'notice'> => ({
  notice: {
    severity: 'INFO',
    words: ({ subscriptionId: id }) => ({
      title: 'Member left',
      body,
      resource: { type: 'SUBSCRIPTION', id },
    }),
  },
});

/** Events of the state transitions; a switch reports its changes and has an event of its own. */
export const EVENT_BY_TRANSITION: Readonly<
  Record<Exclude<SubscriptionEventName, 'updated'>, EventDefinition<typeof data>>
> = {
  activated: transitionEvent('subscription.activated', 'A trial ended and its first period was paid.'),
  renewed: transitionEvent('subscription.renewed', 'A subscription was renewed for the next period.'),
  payment_failed: transitionEvent(
    'subscription.payment_failed',
    'A renewal was declined. It is retried after 1, 3, 5 and 7 days; access continues until the last retry.',
    { status: 'PAST_DUE' },
  ),
  recovered: transitionEvent('subscription.recovered', 'A declined renewal was paid.'),
  cancel_scheduled: transitionEvent(
    'subscription.cancel_scheduled',
    'A subscription was scheduled to end with the current period unless it is resumed.',
  ),
  resumed: transitionEvent('subscription.resumed', 'A scheduled cancellation was reverted.'),
  canceled: {
    ...transitionEvent(
      'subscription.canceled',
      'A subscription ended: it was canceled or refunded, or a dispute was lost.',
      {
        status: 'CANCELED',
      },
    ),
    ...ended('The subscription was canceled.'),
  },
  expired: {
    ...transitionEvent(
      'subscription.expired',
      'A subscription expired: the last renewal attempt was declined.',
      {
        status: 'EXPIRED',
      },
    ),
    ...ended('The last attempt to renew the subscription was declined.'),
  },
};

/** Event definitions with minimal data: paid content is read from the gated endpoints. */
export const subscriptionEvents: EventDefinition[] = [
  subscriptionCreated,
  subscriptionUpdated,
  ...Object.values(EVENT_BY_TRANSITION),
];
