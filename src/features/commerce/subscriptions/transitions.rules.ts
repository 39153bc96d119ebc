import type { SubscriptionStatus } from '../../../platform/db/tables.generated.ts';

/** Steps of a subscription; a switch changes its tier immediately. */
export const STEPS = [
  'PAID',
  'DECLINED',
  'GAVE_UP',
  'CANCEL_SCHEDULED',
  'RESUMED',
  'PERIOD_ENDED',
  'ENDED',
  'SWITCHED',
  'UPGRADE_REVERSED',
] as const;
export type Step = (typeof STEPS)[number];

/** Events about a subscription, without their prefix. */
export type SubscriptionEventName =
  | 'activated'
  | 'renewed'
  | 'recovered'
  | 'payment_failed'
  | 'expired'
  | 'cancel_scheduled'
  | 'resumed'
  | 'canceled'
  | 'updated';

export interface Transition {
  to: SubscriptionStatus;
  /** Null: no event that a receiver could act on. */
  told: SubscriptionEventName | null;
}

type Moves = Partial<Record<SubscriptionStatus, Transition>>;

/** Transitions of each step by state; a step cannot be taken from states that are not listed. */
const MOVES: Readonly<Record<Step, Moves>> = {
  PAID: {
    TRIALING: { to: 'ACTIVE', told: 'activated' },
    ACTIVE: { to: 'ACTIVE', told: 'renewed' },
    PAST_DUE: { to: 'ACTIVE', told: 'recovered' },
  },
  DECLINED: {
    TRIALING: { to: 'PAST_DUE', told: 'payment_failed' },
    ACTIVE: { to: 'PAST_DUE', told: 'payment_failed' },
    PAST_DUE: { to: 'PAST_DUE', told: null },
  },
  GAVE_UP: { PAST_DUE: { to: 'EXPIRED', told: 'expired' } },
  CANCEL_SCHEDULED: {
    TRIALING: { to: 'TRIALING', told: 'cancel_scheduled' },
    ACTIVE: { to: 'ACTIVE', told: 'cancel_scheduled' },
  },
  RESUMED: {
    TRIALING: { to: 'TRIALING', told: 'resumed' },
    ACTIVE: { to: 'ACTIVE', told: 'resumed' },
    PAST_DUE: { to: 'PAST_DUE', told: 'resumed' },
  },
  PERIOD_ENDED: {
    TRIALING: { to: 'CANCELED', told: 'canceled' },
    ACTIVE: { to: 'CANCELED', told: 'canceled' },
    PAST_DUE: { to: 'CANCELED', told: 'canceled' },
  },
  ENDED: {
    TRIALING: { to: 'CANCELED', told: 'canceled' },
    ACTIVE: { to: 'CANCELED', told: 'canceled' },
    PAST_DUE: { to: 'CANCELED', told: 'canceled' },
  },
  SWITCHED: {
    TRIALING: { to: 'TRIALING', told: 'updated' },
    ACTIVE: { to: 'ACTIVE', told: 'updated' },
  },
  UPGRADE_REVERSED: {
    ACTIVE: { to: 'ACTIVE', told: 'updated' },
    PAST_DUE: { to: 'PAST_DUE', told: 'updated' },
  },
};

/** @returns null where the step does not apply and changes nothing. */
export function applyStep(status: SubscriptionStatus, step: Step): Transition | null {
  return MOVES[step][status] ?? null;
}
