import type { PageViewers } from '../../../http/page-viewer.ts';
import { createCountries } from '../../../platform/countries.ts';
import type { Platform } from '../../platform.ts';
import { createSalts, type Salts } from './salts.ts';
import { createViewerFingerprints, type ViewerFingerprints } from './service.ts';

interface ArrivalsDeps extends Pick<Platform, 'clock' | 'config' | 'db' | 'platformHosts' | 'secrets'> {
  visitors: PageViewers;
}

/** Services that identify viewers anonymously. */
interface FingerprintServices {
  salts: Salts;
  arrivals: ViewerFingerprints;
}

export function createFingerprintServices(deps: ArrivalsDeps): FingerprintServices {
  const { config, platformHosts: hosts, visitors } = deps;
  const salts = createSalts(deps);
  const arrivals = createViewerFingerprints({
    ...deps,
    ...{ salts, hosts },
    countries: createCountries(config.COUNTRY_DATABASE),
    countryHeader: config.COUNTRY_HEADER,
    async isAccountSession({ ip, headers }, accountId) {
      const visitor = await visitors({ ip, headers });
      if (visitor === null || visitor.sessionId === null) return false;
      return [visitor.accountId, ...visitor.teams].includes(accountId);
    },
  });
  return { salts, arrivals };
}
