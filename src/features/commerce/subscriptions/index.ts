/** Subscriptions: memberships of tiers, and their renewals, changes and ends. */

export type { memberChanges, membersAt } from './metrics.repository.ts';
export type { SubscriptionDetails } from './repository.ts';
export type { Subscriptions } from './service.ts';
