/** Maximum number of items in a playlist (docs/concepts/playlists.md). */
export const MAX_ITEMS = 5000;

/** Played part of an item's video; null is the start or the end of the video. */
export interface PlaybackRange {
  startSec: number | null;
  stopSec: number | null;
}

/** Reports whether the range stops after it starts. */
export function isSpan({ startSec, stopSec }: PlaybackRange): boolean {
  return stopSec === null || stopSec > (startSec ?? 0);
}

/** Reports whether `ids` contains exactly the items, each once, in any order. */
export function isPermutation(ids: readonly string[], items: readonly string[]): boolean {
  const given = new Set(ids);
  return ids.length === items.length && given.size === ids.length && items.every((id) => given.has(id));
}

/** Parses a position that survives changes: the index and the ID of the last item. */
export function parsePosition(text: string): { position: number; itemId: string } {
  const [position = '', itemId = ''] = text.split('.');
  return { position: Number(position), itemId };
}
