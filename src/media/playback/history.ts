import { createIdleCache } from '../../kernel/cache.ts';
import type { HistorySegment, LiveHistory } from '../contract/index.ts';
import type { MediaPlaylist, PublicSegment } from '../live/playlist.ts';

/** Prepends the stored segments of a stream to its live window. */
export type JoinHistory = (streamId: string, rung: string, playlist: MediaPlaylist) => Promise<MediaPlaylist>;

/** State of one playlist. */
interface Joined {
  /** The last one, which is joined once; null where it is to be joined again. */
  last: { playlist: MediaPlaylist; joined: Promise<MediaPlaylist> } | null;
  /** First sequence number of the live window; null before the first. */
  firstSeq: number | null;
  /** Segments before it. */
  before: readonly PublicSegment[];
  /** Most recent segments of its last result. */
  shown: readonly PublicSegment[];
  /** All segments before it are stored: no older ones will be added. */
  isKept: boolean;
}

/** Segments held for all playlists, about 100 MB: each rendition of four hours has 7,200. */
const SEGMENTS_MAX = 720_000;
const UNUSED_MS = 60_000;
/**
 * Number of recent segments remembered: more than a live window and the segments on their way into the store.
 */
const RECENT = 60;

/**
 * Prepends the segments before a live window, without a gap: segments older than a missing one are left out.
 * A playlist is joined only once when all segments before it are stored; segments that have just left the
 * window are included even before they are.
 */
export function createHistoryJoiner(history: LiveHistory, segmentsMax = SEGMENTS_MAX): JoinHistory {
  const knownOf = createIdleCache<Joined>(
    () => ({ last: null, firstSeq: null, before: [], shown: [], isKept: true }),
    {
      idleTtlMs: UNUSED_MS,
      sizeOf: ({ before, shown }) => before.length + shown.length,
      maxTotalSize: segmentsMax,
    },
  );

  const join = async (known: Joined, streamId: string, rung: string, playlist: MediaPlaylist) => {
    const [first] = playlist.segments;
    if (first === undefined) return playlist;
    let { before, isKept } = known;
    if (known.firstSeq !== first.seq || !isKept) {
      const kept = await history.upTo(streamId, first.seq - 1);
      before = chain(kept, rung, first, known.shown);
      isKept = (kept.at(-1)?.seq ?? -1) >= first.seq - 1;
    }
    const segments = [...before, ...playlist.segments];
    known.firstSeq = first.seq;
    known.before = before;
    known.shown = segments.slice(-RECENT);
    known.isKept = isKept;
    if (!isKept && known.last?.playlist === playlist) known.last = null;
    return { ...playlist, segments };
  };
  return (streamId, rung, playlist) => {
    const known = knownOf(`${streamId}/${rung}`);
    if (known.last?.playlist === playlist) return known.last.joined;
    const joined = join(known, streamId, rung, playlist);
    known.last = { playlist, joined };
    joined.catch(() => {
      if (known.last?.joined === joined) known.last = null;
    });
    return joined;
  };
}

/**
 * Returns the segments that lead up to `first` without a gap. @param shown segments that may not be stored
 * yet.
 */
function chain(
  kept: readonly HistorySegment[],
  rung: string,
  first: PublicSegment,
  shown: readonly PublicSegment[],
): PublicSegment[] {
  const bySeq = new Map<number, PublicSegment>();
  for (const { parts: _, ...segment } of shown) bySeq.set(segment.seq, segment);
  for (const segment of kept) bySeq.set(segment.seq, publicSegment(segment, rung));
  const segments: PublicSegment[] = [];
  let next = first;
  for (let seq = first.seq - 1; ; seq -= 1) {
    const segment = bySeq.get(seq);
    // Numbers from before a restart of the numbering belong to other segments.
    if (segment === undefined || segment.startMs > next.startMs || segment.disc > next.disc) break;
    segments.push(segment);
    next = segment;
  }
  return segments.reverse();
}

/** A kept segment as a playlist of a rung lists it. */
export function publicSegment({ rungs, ...segment }: HistorySegment, rung: string): PublicSegment {
  const { seq, disc, epoch, file, startMs } = segment;
  const source = rungIn(Object.keys(rungs), rung);
  const held = rungs[source];
  const durationSec = held?.durationSec ?? segment.durationSec;
  const dependent = held?.isDependent && { isDependent: true as const };
  return { seq, disc, epoch, rung: source, file, durationSec, startMs, ...dependent };
}

/** A segment may lack the rung: the next lower one stands for it, or the source. */
function rungIn(names: readonly string[], rung: string): string {
  if (names.includes(rung)) return rung;
  const lower = names.filter((name) => Number(name) < Number(rung)).sort((a, b) => Number(b) - Number(a));
  return lower[0] ?? (names.includes('src') ? 'src' : (names[0] ?? rung));
}
