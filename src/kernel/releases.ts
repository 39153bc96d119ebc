import { BASELINE_ENDPOINTS } from './baseline-endpoints.ts';
import type { Release } from './release.ts';

/**
 * Every release of the interface, oldest first: what `/changelog`, the part of CHANGELOG.md about the interface, the
 * headers of deprecated endpoints and `changelog.published` are made from (docs/decisions/versions.md#changelog).
 */
export const RELEASES: readonly Release[] = [BASELINE_ENDPOINTS];
