/**
 * Integration domains: partner sites that may call checkout and payment routes
 * (docs/decisions/integration-domains.md).
 *
 * Terminology: a *proof* is a TXT record or a file that only the owner of the domain can publish; a domain
 * *lapses* when its proof is missing for days.
 */
export type { Domains } from './service.ts';
