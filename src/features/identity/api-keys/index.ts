/**
 * API keys: minting, restrictions, and the check that every keyed request begins with
 * (docs/decisions/api-keys.md).
 *
 * Terminology: a *grant* is what a key allows; a *ceiling* is the minting key's grant, which no key that it
 * makes exceeds; a *retired* secret is one that a rotation has replaced.
 */
export { apiKeyEvents, apiKeyExpiring } from './events.ts';
export { apiKeyRoutes } from './routes.ts';
export { createKeySecurityEmails } from './security-emails.ts';
export type { ApiKeys, KeyInput } from './service.ts';
export { createApiKeys } from './service.ts';
