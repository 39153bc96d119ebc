/**
 * Integration domains: the sites of partners from which checkout and payment calls are taken
 * (docs/decisions/integration-domains.md).
 *
 * Terminology: a *proof* is a TXT record or a file that only the owner of the domain can put there; a domain
 * *lapses* when its proof is gone for days.
 */
export { domainEvents, domainLapsed } from './events.ts';
export { domainRoutes } from './routes.ts';
export { createDomains, type Domains } from './service.ts';
export { createDomainVerifier } from './verification.ts';
