import {
  createSalts,
  createViewerFingerprints,
  type Salts,
  type ViewerFingerprints,
} from '../../features/audience/viewer-fingerprints/index.ts';
import type { PageViewers } from '../../http/page-viewer.ts';
import { createCountries } from '../../platform/countries.ts';
import type { BaseContext } from '../wiring.ts';

/** Services that identify viewers anonymously. */
export interface FingerprintServices {
  salts: Salts;
  arrivals: ViewerFingerprints;
}

export function createFingerprintServices(
  base: BaseContext & { visitors: PageViewers },
): FingerprintServices {
  const { config, platformHosts: hosts, visitors } = base;
  const salts = createSalts(base);
  const arrivals = createViewerFingerprints({
    ...base,
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
