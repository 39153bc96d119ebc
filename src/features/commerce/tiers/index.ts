/**
 * Tiers: subscription products (docs/concepts/tiers.md).
 *
 * Terminology: a *spot* is a member's share of a tier with a member limit; it is *reserved* while its buyer
 * pays.
 */

export { type AssertOwnTiers, assertOwnTiers } from './assert-own-tiers.ts';
export { tierEvents, tierUpdated } from './events.ts';
export type { TierRow } from './repository.ts';
export { tierRoutes } from './routes.ts';
export { createTiers, type KnownCreator, type TierCapacity, type Tiers, tierCapacity } from './service.ts';
