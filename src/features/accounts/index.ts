/**
 * Accounts and their workspaces.
 *
 * Terminology: an *account* is a person or company that signs in; it owns two *workspaces*, live and test,
 * and the workspace is the tenant of everything else (`api.md` C12).
 */
export type { AccountInput, AccountSummary, Accounts } from './service.ts';
export { createAccounts } from './service.ts';
