import {
  createDomains,
  createDomainVerifier,
  type Domains,
  domainRoutes,
} from '../../features/identity/domains/index.ts';
import { createTxtResolver } from '../../platform/outbound/index.ts';
import type { ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

const CHECK_MS = 15_000;

export function domainsPart(base: BaseContext): ModuleWithExports<{ domains: Domains }> {
  const { config, fetcher, cursors } = base;
  const txt = createTxtResolver(config.DNS_SERVERS);
  const domains = createDomains({ ...base, prover: createDomainVerifier({ txt, fetcher }) });
  return {
    exports: { domains },
    module: {
      routes: () => domainRoutes({ domains, cursors }),
      tasks: () => [{ name: 'integration domains', everyMs: CHECK_MS, run: () => domains.checkDue() }],
      close: () => txt.close(),
    },
  };
}
