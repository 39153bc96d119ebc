/**
 * Members: customers of a creator, who sign in with an emailed link; their page, and the content they may
 * watch.
 */
export { createMemberCookie, type MemberCookie } from './cookie.ts';
export { paidVideos } from './entitlements.repository.ts';
export { createMemberEntitlements } from './entitlements.ts';
export { type MemberCards, memberPages } from './member.pages.ts';
export { createSellers } from './sellers.ts';
export { createMembers, type Members, memberPath } from './service.ts';
