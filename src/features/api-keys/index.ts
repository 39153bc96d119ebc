/** API keys: minting, restrictions, and the check that every keyed request begins with (contract 5). */
export type { ApiKeys, KeyInput, KeySummary, VerifiedKey } from './service.ts';
export { createApiKeys } from './service.ts';
