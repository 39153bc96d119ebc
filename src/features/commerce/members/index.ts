/**
 * Members: customers of a creator, who sign in with an emailed link; their page, and the content they may
 * watch.
 */
export type { paidVideos } from './entitlements.repository.ts';
export type { memberPath } from './service.ts';
