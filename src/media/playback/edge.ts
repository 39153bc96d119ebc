import type { LiveEdge } from '../contract/index.ts';
import type { MediaPlaylist } from '../live/playlist.ts';

/**
 * Segments ahead that players request: the next one, or the one after it (draft-pantos-hls-rfc8216bis
 * 6.2.5.2).
 */
const AHEAD_MAX = 2;

/**
 * Reports whether a playlist contains the edge or later media. `too far`: the edge is well beyond the next
 * segment.
 */
export function compareEdge(
  playlist: MediaPlaylist,
  { seq, part }: LiveEdge,
): 'shown' | 'waiting' | 'too far' {
  const { nextSeq, segments, open } = playlist;
  if (seq >= nextSeq + AHEAD_MAX) return 'too far';
  if (seq > nextSeq) return 'waiting';
  if (seq === nextSeq) return part !== null && (open?.parts?.length ?? 0) > part ? 'shown' : 'waiting';
  if (part === null || seq < nextSeq - 1) return 'shown';
  // One more than the segment has got is the first part of the next one.
  const last = segments.at(-1);
  const isBeyond = last?.seq === seq && last.parts !== undefined && part >= last.parts.length;
  return isBeyond && (open?.parts?.length ?? 0) === 0 ? 'waiting' : 'shown';
}

/** The last that a playlist shows; null when it shows nothing. */
export function edgeOf({ segments, open }: MediaPlaylist): LiveEdge | null {
  const last = open?.parts === undefined ? segments.at(-1) : open;
  if (last === undefined) return null;
  return { seq: last.seq, part: last.parts === undefined ? null : last.parts.length - 1 };
}
