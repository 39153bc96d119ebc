import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../events/catalogue.ts';
import { named } from '../../http/named.ts';
import { Instant, Nullable, OneOf } from '../../http/schema.ts';
import { VALUES } from '../../platform/db/tables.generated.ts';
import type { Told } from './moves.rules.ts';

const fields = {
  subscriptionId: Type.String(),
  tierId: Type.String(),
  status: OneOf(VALUES.subscription.status),
  currentPeriodEnd: Instant,
  cancelAtPeriodEnd: Type.Boolean(),
  clientReferenceId: Nullable(Type.String()),
  sequence: Type.Integer({ minimum: 1, description: 'Increases with each event about this subscription.' }),
};
const data = named('SubscriptionEventData', Type.Object(fields));
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
  description: 'Somebody has subscribed to a tier: TRIALING or ACTIVE.',
  data,
  sample: { ...sample, sequence: 1 },
  notice: {
    severity: 'INFO',
    words: ({ subscriptionId: id }) => ({
      title: 'A new member',
      body: 'Somebody has subscribed to one of your tiers.',
      resource: { type: 'SUBSCRIPTION', id },
    }),
  },
});

export const subscriptionUpdated = defineEvent({
  type: 'subscription.updated',
  description: 'The member has another tier, or will have it from the next period on.',
  data: Type.Object({
    ...fields,
    changes: Type.Record(Type.String(), Type.Object({ from: Type.Unknown(), to: Type.Unknown() }), {
      description: '`tierId`, or `pendingTierId` for the next period, with its old and its new value.',
    }),
  }),
  sample: {
    ...sample,
    changes: { tierId: { from: 'tier_01kafe3n4pfx2v9yq6m8d7t5zq', to: 'tier_01kafe3n4pfx2v9yq6m8d7t5zr' } },
  },
});

const told = (
  type: string,
  description: string,
  change: { status?: 'PAST_DUE' | 'CANCELED' | 'EXPIRED' } = {},
) => defineEvent({ type, description, data, sample: { ...sample, ...change } });

/** Told to people, too. */
const ended = (body: string): Pick<EventDefinition<typeof data>, 'notice'> => ({
  notice: {
    severity: 'INFO',
    words: ({ subscriptionId: id }) => ({
      title: 'A member has left',
      body,
      resource: { type: 'SUBSCRIPTION', id },
    }),
  },
});

/** What a change of state tells; a switch says what has changed, and is told apart. */
export const TOLD: Readonly<Record<Exclude<Told, 'updated'>, EventDefinition<typeof data>>> = {
  activated: told('subscription.activated', 'A trial has ended and its first period is paid.'),
  renewed: told('subscription.renewed', 'The next period has begun.'),
  payment_failed: told(
    'subscription.payment_failed',
    'A renewal was declined. It is tried again after 1, 3, 5 and 7 days; until then nothing is taken away.',
    { status: 'PAST_DUE' },
  ),
  recovered: told('subscription.recovered', 'A renewal that was declined is paid.'),
  cancel_scheduled: told(
    'subscription.cancel_scheduled',
    'It ends with the present period, unless it is resumed.',
  ),
  resumed: told('subscription.resumed', 'It does not end with the present period after all.'),
  canceled: {
    ...told('subscription.canceled', 'It is over: canceled, refunded, or a dispute was lost.', {
      status: 'CANCELED',
    }),
    ...ended('The subscription was canceled.'),
  },
  expired: {
    ...told('subscription.expired', 'It is over: the last try to renew it was declined.', {
      status: 'EXPIRED',
    }),
    ...ended('The last try to renew the subscription was declined.'),
  },
};

/** Thin: what is paid is read from the gated endpoints. */
export const subscriptionEvents: EventDefinition[] = [
  subscriptionCreated,
  subscriptionUpdated,
  ...Object.values(TOLD),
];
