/** Visibility of a stream or a video (docs/concepts/playback.md#access). */
export const VISIBILITIES = ['PUBLIC', 'UNLISTED', 'PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/** Reports whether the URL is sufficient to watch. */
export function isLinkAccessible(visibility: Visibility): boolean {
  return visibility === 'PUBLIC' || visibility === 'UNLISTED';
}
