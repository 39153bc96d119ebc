import { type Arrivals, createArrivals, createSalts, type Salts } from '../../features/arrivals/index.ts';
import type { Visitors } from '../../http/visitor.ts';
import { createCountries } from '../../platform/countries.ts';
import type { Base } from '../wiring.ts';

/** What is kept of those who watch. */
export interface Arriving {
  salts: Salts;
  arrivals: Arrivals;
}

export function createArriving(base: Base & { visitors: Visitors }): Arriving {
  const { config, platformHosts: hosts, visitors } = base;
  const salts = createSalts(base);
  const arrivals = createArrivals({
    ...base,
    ...{ salts, hosts },
    countries: createCountries(config.COUNTRY_DATABASE),
    countryHeader: config.COUNTRY_HEADER,
    async actsFor({ ip, headers }, accountId) {
      const visitor = await visitors({ ip, headers });
      if (visitor === null || visitor.sessionId === null) return false;
      return [visitor.accountId, ...visitor.teams].includes(accountId);
    },
  });
  return { salts, arrivals };
}
