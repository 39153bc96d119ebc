/**
 * Tiers: subscription products (docs/concepts/tiers.md).
 *
 * Terminology: a *spot* is a member's share of a tier with a member limit; it is *reserved* while its buyer
 * pays.
 */
export type { AssertOwnTiers, assertOwnTiers } from './assert-own-tiers.ts';
export type { tierUpdated } from './events.ts';
export type { TierRow } from './repository.ts';
export type { TierCapacity, Tiers } from './service.ts';
