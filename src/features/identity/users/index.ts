/**
 * Public user profiles and follows (docs/concepts/users.md).
 *
 * Terminology: a *follower* is an account that follows the channel of another; a *subscriber* is an address
 * on a creator's list, and a *member* pays for a tier: these are other features.
 */
export type { followerAdded, followerRemoved } from './events.ts';
export type { Follows, followers } from './follows.service.ts';
export type { FollowState } from './schemas.ts';
