import { matchesHost } from '../../../kernel/hostname.ts';
import type { Visibility } from '../../../kernel/visibility.ts';

/**
 * Grants of a signed URL. `playback` shows a video or a broadcast whatever its visibility, `preview` also the
 * signal before the broadcast. `site` shows nothing beyond public access: it proves that a page of the
 * platform sent the viewer.
 */
export const GRANTS = ['playback', 'preview', 'site'] as const;
export type Grant = (typeof GRANTS)[number];

/** Reports whether `Entitlements` may grant access: to followers, members, buyers and customers. */
export function isForEntitled(visibility: Visibility): boolean {
  return visibility !== 'PUBLIC' && visibility !== 'UNLISTED';
}

/** Reports whether the grant gives access whatever the visibility. */
export function grantsAccess(grant: Grant | null): boolean {
  return grant === 'playback' || grant === 'preview';
}

/** Decides who may watch a video or a stream. */
export function mayWatch(claim: {
  visibility: Visibility;
  grant: Grant | null;
  isEntitled: boolean;
}): boolean {
  const { visibility, grant, isEntitled } = claim;
  switch (visibility) {
    case 'PUBLIC':
    case 'UNLISTED':
      return true;
    case 'PRIVATE':
    case 'FOLLOWERS':
    case 'TIER':
    case 'PURCHASE':
      return grantsAccess(grant) || isEntitled;
  }
}

/** Origin that a request claims. */
export interface Source {
  origin: string | undefined;
  referer: string | undefined;
}

/**
 * Reports whether a player at this source may load the media of an account that lists its sites. A page is
 * identified by its `Origin`, otherwise its `Referer`; a player outside of a page, such as an app, needs a
 * signed URL.
 *
 * @param listed host patterns; null when the account lists none and every site may.
 * @param own the platform's host names.
 */
export function isEmbedAllowed(
  { origin, referer }: Source,
  { listed, own, grant }: { listed: readonly string[] | null; own: readonly string[]; grant: Grant | null },
): boolean {
  if (listed === null) return true;
  const site = origin || referer;
  if (!site) return grant !== null;
  const host = URL.canParse(site) ? new URL(site).hostname : '';
  return own.includes(host) || listed.some((pattern) => matchesHost(pattern, host));
}
