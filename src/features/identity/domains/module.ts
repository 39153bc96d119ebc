import { createTxtResolver } from '../../../platform/outbound/index.ts';
import type { Declarations, FeatureModule } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import { domainEvents } from './events.ts';
import { domainRoutes } from './routes.ts';
import { createDomains, type Domains } from './service.ts';
import { createDomainVerifier } from './verification.ts';

export const domainsDeclarations: Declarations = { events: domainEvents };

interface DomainsDeps
  extends Pick<
    Platform,
    'clock' | 'config' | 'cursors' | 'db' | 'events' | 'fetcher' | 'log' | 'platformHosts'
  > {}

const CHECK_MS = 15_000;

export function createDomainsModule(deps: DomainsDeps): FeatureModule & { domains: Domains } {
  const { config, fetcher, cursors } = deps;
  const txt = createTxtResolver(config.DNS_SERVERS);
  const domains = createDomains({ ...deps, prover: createDomainVerifier({ txt, fetcher }) });
  return {
    domains,
    routes: () => domainRoutes({ domains, cursors }),
    tasks: () => [{ name: 'integration domains', everyMs: CHECK_MS, run: () => domains.checkDue() }],
    close: () => txt.close(),
  };
}
