/**
 * Subscriptions: what members have of tiers, and how it is renewed, changed and ended.
 *
 * Terminology: a *period* is a month or a year, counted from the *anchor*; a *switch* brings another tier.
 */
import { memberChanges, membersAt } from './metrics.repository.ts';

export { createSubscriptionConsumers } from './consumers.ts';
export { subscriptionEvents } from './events.ts';
export type { SubscriptionPorts } from './ports.ts';
export type { SubscriptionDetails } from './repository.ts';
export { subscriptionRoutes } from './routes.ts';
export { createSubscriptions, type NewSubscription, type Subscriptions } from './service.ts';
export { createSimulations } from './simulation.service.ts';

/** How many members there are, and what they bring, for whoever counts. */
export const memberMetrics = { at: membersAt, changes: memberChanges };
