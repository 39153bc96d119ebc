import { API_VERSIONS, type Release, type ReleaseEntry } from '../../../kernel/release.ts';
import { FIRST_RELEASE } from './first-release.ts';

const ENTRIES: Readonly<Record<(typeof API_VERSIONS)[number]['version'], readonly ReleaseEntry[]>> = {
  '1.0.0': FIRST_RELEASE,
};

/**
 * Every release of the API, oldest first: source of `/changelog`, the interface section of CHANGELOG.md, deprecation
 * headers and `changelog.published` (docs/decisions/versions.md#changelog).
 */
export const RELEASES: readonly Release[] = API_VERSIONS.map(({ version, date }) => ({
  version,
  date,
  entries: ENTRIES[version],
}));
