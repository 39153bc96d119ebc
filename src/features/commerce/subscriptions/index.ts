/** Subscriptions: memberships of tiers, and their renewals, changes and ends. */
import { memberChanges, membersAt } from './metrics.repository.ts';

export { createSubscriptionConsumers } from './consumers.ts';
export { subscriptionEvents } from './events.ts';
export type { SubscriptionPorts } from './ports.ts';
export type { SubscriptionDetails } from './repository.ts';
export { subscriptionRoutes } from './routes.ts';
export { createSubscriptions, type NewSubscription, type Subscriptions } from './service.ts';
export { createSimulations } from './simulation.service.ts';

/** Member counts and recurring revenue for metrics. */
export const memberMetrics = { at: membersAt, changes: memberChanges };
