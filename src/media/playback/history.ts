import type { HistorySegment, LiveHistory } from '../contract/index.ts';
import type { MediaPlaylist, PublicSegment } from '../live/playlist.ts';

/** Puts what is kept of a stream before its live window. */
export type JoinHistory = (streamId: string, rung: string, playlist: MediaPlaylist) => Promise<MediaPlaylist>;

interface Joined {
  /** Where the live window begins. */
  firstSeq: number;
  /** What stands before it. */
  before: readonly PublicSegment[];
  /** The last that it showed whole. */
  shown: readonly PublicSegment[];
  /** All that stands before it is kept: nothing older can come to be known. */
  isKept: boolean;
}

const PLAYLISTS_MAX = 500;
/** Longer than a live window, and what is on its way into the store. */
const RECENT = 60;

/**
 * The segments before a live window, without a gap: where one is missing, what is older is not shown. The same playlist
 * is joined once, as soon as all before it is kept; what has just left the window stands before it even until then.
 */
export function createHistoryJoiner(history: LiveHistory): JoinHistory {
  const done = new WeakMap<MediaPlaylist, Promise<MediaPlaylist>>();
  const last = new Map<string, Joined>();

  const join = async (streamId: string, rung: string, playlist: MediaPlaylist): Promise<MediaPlaylist> => {
    const [first] = playlist.segments;
    if (first === undefined) return playlist;
    const key = `${streamId}/${rung}`;
    const known = last.get(key);
    let [before, isKept] = [known?.before ?? [], true];
    if (known?.firstSeq !== first.seq || !known.isKept) {
      const kept = await history.upTo(streamId, first.seq - 1);
      before = chain(kept, rung, first, known?.shown ?? []);
      isKept = (kept.at(-1)?.seq ?? -1) >= first.seq - 1;
    }
    const segments = [...before, ...playlist.segments];
    if (!isKept) done.delete(playlist);
    last.delete(key);
    last.set(key, { firstSeq: first.seq, before, shown: segments.slice(-RECENT), isKept });
    const [oldest] = last.keys();
    if (last.size > PLAYLISTS_MAX && oldest !== undefined) last.delete(oldest);
    return { ...playlist, segments };
  };
  return (streamId, rung, playlist) => {
    const known = done.get(playlist);
    if (known !== undefined) return known;
    const joined = join(streamId, rung, playlist);
    done.set(playlist, joined);
    joined.catch(() => done.delete(playlist));
    return joined;
  };
}

/** What leads up to `first` without a gap. @param shown what may not be kept yet. */
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
    // After a new beginning of the numbers, those of before mean something else.
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
