/** A playlist has at most so many items (docs/concepts/playlists.md). */
export const MAX_ITEMS = 5000;

/** What is played of an item's video; null is its beginning or its end. */
export interface PlaybackRange {
  startSec: number | null;
  stopSec: number | null;
}

/** Does it stop after it starts? */
export function isSpan({ startSec, stopSec }: PlaybackRange): boolean {
  return stopSec === null || stopSec > (startSec ?? 0);
}

/** Are `ids` exactly the items, each once, in whatever order? */
export function isPermutation(ids: readonly string[], items: readonly string[]): boolean {
  const given = new Set(ids);
  return ids.length === items.length && given.size === ids.length && items.every((id) => given.has(id));
}

/** A list position that survives changes: where the last item stood, and which it was. */
export function parsePosition(text: string): { position: number; itemId: string } {
  const [position = '', itemId = ''] = text.split('.');
  return { position: Number(position), itemId };
}
