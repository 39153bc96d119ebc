/**
 * Members: who has bought something of a creator, by a link that is mailed; their page, and what they may watch.
 */
export { createMemberCookie, type MemberCookie } from './cookie.ts';
export { paidVideos } from './entitlements.repository.ts';
export { createMemberEntitlements } from './entitlements.ts';
export { type MemberCards, memberPages } from './member.pages.ts';
export { createSellers } from './sellers.ts';
export { createMembers, type Members, memberPath } from './service.ts';
