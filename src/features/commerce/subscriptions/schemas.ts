import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { MODES, type Mode } from '../../../kernel/access.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { SubscriptionDetails } from './repository.ts';

namedSchema('SubscriptionStatus', OneOf(VALUES.subscription.status));

export const CancelIn = namedSchema(
  'SubscriptionCancel',
  Type.Object({
    atPeriodEnd: Type.Boolean({
      description:
        'Whether to cancel at the end of the current period; otherwise immediately, without a refund.',
    }),
  }),
  { atPeriodEnd: true },
);

export const SwitchIn = namedSchema(
  'SubscriptionSwitch',
  Type.Object({
    tierId: Type.String({ minLength: 1, maxLength: 64, description: 'ID of one of your tiers.' }),
  }),
  { tierId: 'tier_01kafe3n4pfx2v9yq6m8d7t5zr' },
);

/** Simulations in test mode. */
export const SIMULATIONS = [
  'RENEWED',
  'PAYMENT_FAILED',
  'DISPUTED',
  'DISPUTE_WON',
  'DISPUTE_LOST',
  'MEMBER_CANCELED',
  'PERIOD_ENDED',
] as const;
export type Simulation = (typeof SIMULATIONS)[number];

export const SimulateIn = namedSchema(
  'SubscriptionSimulation',
  Type.Object({ event: OneOf(SIMULATIONS, { description: 'Event to simulate.' }) }),
  { event: 'RENEWED' },
);

export const Subscription = namedSchema(
  'Subscription',
  Type.Object({
    id: IdOf('sub'),
    tierId: IdOf('tier'),
    tierName: Type.String(),
    subscriberId: IdOf('cus'),
    subscriberEmail: Type.String(),
    subscriberName: Nullable(Type.String()),
    status: OneOf(VALUES.subscription.status),
    priceCents: Type.Integer({ description: 'Price per period for this member.' }),
    currency: Type.String(),
    interval: OneOf(VALUES.subscription.interval),
    timezone: Type.String({ description: 'Time zone in which the days of its periods are counted.' }),
    currentPeriodStart: Instant,
    currentPeriodEnd: Instant,
    trialEndsAt: Nullable(Instant),
    nextChargeAt: Nullable(Instant),
    pendingTierId: Nullable(IdOf('tier', 'Effective with the next period.')),
    pendingPriceCents: Nullable(Type.Integer({ description: 'Effective with the next period.' })),
    cancelAtPeriodEnd: Type.Boolean(),
    canceledAt: Nullable(Instant),
    endedAt: Nullable(Instant),
    cancelReason: Nullable(OneOf(VALUES.subscription.cancel_reason)),
    isDisputed: Type.Boolean({
      description: 'Whether the last charge is disputed; access is suspended until the bank decides.',
    }),
    discountCode: Nullable(Type.String()),
    clientReferenceId: Nullable(Type.String()),
    createdAt: Instant,
    mode: OneOf(MODES),
  }),
  {
    id: 'sub_01kafe3n4pfx2v9yq6m8d7t5zr',
    tierId: 'tier_01kafe3n4pfx2v9yq6m8d7t5zr',
    tierName: 'Supporter',
    subscriberId: 'cus_01kafe3n4pfx2v9yq6m8d7t5zr',
    subscriberEmail: 'member@example.com',
    subscriberName: null,
    status: 'ACTIVE',
    priceCents: 500,
    currency: 'USD',
    interval: 'MONTH',
    timezone: 'Europe/Berlin',
    currentPeriodStart: '2026-11-20T09:00:00.000Z',
    currentPeriodEnd: '2026-12-20T09:00:00.000Z',
    trialEndsAt: null,
    nextChargeAt: '2026-12-20T09:00:00.000Z',
    pendingTierId: null,
    pendingPriceCents: null,
    cancelAtPeriodEnd: false,
    canceledAt: null,
    endedAt: null,
    cancelReason: null,
    isDisputed: false,
    discountCode: null,
    clientReferenceId: null,
    createdAt: '2026-11-20T09:00:00.000Z',
    mode: 'live',
  },
);

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

export function toSubscription(row: SubscriptionDetails, mode: Mode): Static<typeof Subscription> {
  return {
    id: row.id,
    tierId: row.tier_id,
    tierName: row.tier_name,
    subscriberId: row.customer_id,
    subscriberEmail: row.customer_email,
    subscriberName: row.customer_name,
    status: row.status,
    priceCents: row.price_cents,
    currency: 'USD',
    interval: row.interval,
    timezone: row.timezone,
    currentPeriodStart: row.current_period_start.toISOString(),
    currentPeriodEnd: row.current_period_end.toISOString(),
    trialEndsAt: iso(row.trial_ends_at),
    nextChargeAt: row.cancel_at_period_end ? null : iso(row.next_charge_at),
    pendingTierId: row.pending_tier_id,
    pendingPriceCents: row.pending_price_cents,
    cancelAtPeriodEnd: row.cancel_at_period_end,
    canceledAt: iso(row.canceled_at),
    endedAt: iso(row.ended_at),
    cancelReason: row.cancel_reason,
    isDisputed: row.is_disputed,
    discountCode: row.discount_code,
    clientReferenceId: row.client_reference_id,
    createdAt: row.created_at.toISOString(),
    mode,
  };
}
