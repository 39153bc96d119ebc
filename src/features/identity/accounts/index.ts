/**
 * Accounts and their workspaces.
 *
 * Terminology: an *account* is a person or company that signs in; it owns two *workspaces*, live and test,
 * and the workspace is the tenant of everything else (docs/decisions/tenancy.md).
 */
export { avatarPages } from './avatar.pages.ts';
export type { PublicProfile } from './profile.repository.ts';
export { createProfiles, type Profiles } from './profile.service.ts';
export { meRoutes } from './routes.ts';
export { avatarUrl, Profile, toProfile } from './schemas.ts';
export type { AccountInput, Accounts } from './service.ts';
export { createAccounts } from './service.ts';
