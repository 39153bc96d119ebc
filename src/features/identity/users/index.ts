/**
 * Public user profiles and follows (docs/concepts/users.md).
 *
 * Terminology: a *follower* is an account that follows the channel of another; a *subscriber* is an address
 * on a creator's list, and a *member* pays for a tier: these are other features.
 */
export { createFollowerEntitlements } from './entitlements.ts';
export { followerAdded, followerEvents, followerRemoved } from './events.ts';
export { createFollowBox, followPages } from './follow.pages.ts';
export { createFollows, type Follows, followers } from './follows.service.ts';
export { userRoutes } from './routes.ts';
export type { FollowState } from './schemas.ts';
export { createUsers } from './service.ts';
