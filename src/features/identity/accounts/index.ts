/**
 * Accounts and their workspaces.
 *
 * Terminology: an *account* is a person or company that signs in; it owns two *workspaces*, live and test,
 * and the workspace is the tenant of everything else (docs/decisions/tenancy.md).
 */
export type { PublicProfile } from './profile.repository.ts';
export type { Profiles } from './profile.service.ts';
export type { avatarUrl, Profile, toProfile } from './schemas.ts';
export type { Accounts } from './service.ts';
