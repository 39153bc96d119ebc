import { matchesHost } from '../../../kernel/hostname.ts';
import type { Visibility } from '../../../kernel/visibility.ts';

/**
 * What a signed address lets its holder do. `playback` shows a video or a broadcast whatever its visibility,
 * `preview` also what an encoder sends before the broadcast. `site` shows nothing more than everybody sees: it says
 * that a page of the platform sent the viewer.
 */
export const GRANTS = ['playback', 'preview', 'site'] as const;
export type Grant = (typeof GRANTS)[number];

/** May be asked of the `Entitlements`: those who follow, subscribe, have bought or booked. */
export function isForEntitled(visibility: Visibility): boolean {
  return visibility !== 'PUBLIC' && visibility !== 'UNLISTED';
}

/** The holder sees it whatever its visibility. */
export function grantsAccess(grant: Grant | null): boolean {
  return grant === 'playback' || grant === 'preview';
}

/** The one decision about who sees a video or a stream. */
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

/** Where a request says that it comes from. */
export interface Source {
  origin: string | undefined;
  referer: string | undefined;
}

/**
 * May a player there load the media of an account that lists its sites? A page is known by its `Origin`, else its
 * `Referer`; a player that is in no page, such as an app, needs a signed address.
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
