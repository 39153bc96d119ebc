/**
 * Tiers: what people subscribe to (docs/concepts/tiers.md).
 *
 * Terminology: a *place* is what a member has of a tier that takes so many; it is *claimed* while its buyer pays.
 */

export { type AssertOwnTiers, assertOwnTiers } from './assert-own-tiers.ts';
export { tierEvents, tierUpdated } from './events.ts';
export type { TierRow } from './repository.ts';
export { tierRoutes } from './routes.ts';
export { createTiers, type KnownCreator, type TierCapacity, type Tiers, tierCapacity } from './service.ts';
