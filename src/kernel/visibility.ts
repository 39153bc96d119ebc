/** Who may watch a stream or a video (docs/concepts/playback.md#access). */
export const VISIBILITIES = ['PUBLIC', 'UNLISTED', 'PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/** Everybody who has the address may watch. */
export function isLinkAccessible(visibility: Visibility): boolean {
  return visibility === 'PUBLIC' || visibility === 'UNLISTED';
}
