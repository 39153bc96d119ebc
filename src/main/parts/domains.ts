import { createDomains, createProver, type Domains, domainRoutes } from '../../features/domains/index.ts';
import { createTxtResolver } from '../../platform/outbound/index.ts';
import type { Built } from '../part.ts';
import type { Base } from '../wiring.ts';

const CHECK_MS = 15_000;

export function domainsPart(base: Base): Built<{ domains: Domains }> {
  const { config, fetcher, cursors } = base;
  const txt = createTxtResolver(config.DNS_SERVERS);
  const domains = createDomains({ ...base, prover: createProver({ txt, fetcher }) });
  return {
    gives: { domains },
    part: {
      routes: () => domainRoutes({ domains, cursors }),
      tasks: () => [{ name: 'integration domains', everyMs: CHECK_MS, run: () => domains.checkDue() }],
      close: () => txt.close(),
    },
  };
}
