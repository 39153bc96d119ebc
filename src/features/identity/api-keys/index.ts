/**
 * API keys: minting, restrictions, and the check of every request with a key (docs/decisions/api-keys.md).
 *
 * Terminology: a *grant* is the access of a key; a *ceiling* is the minting key's grant, which no key that it
 * mints exceeds; a *retired* secret was replaced by a rotation.
 */
export type { ApiKeys } from './service.ts';
