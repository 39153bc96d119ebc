import type { Clock } from '../../kernel/clock.ts';
import type { DvrPosition, StreamLocation } from '../contract/index.ts';
import { parseMediaPlaylist } from '../live/playlist.ts';
import type { LiveSource } from './live-source.ts';

interface Options {
  /** Returns the other node the stream was on since the given time; undefined when there was none. */
  before(streamId: string, sinceMs: number): Promise<StreamLocation | undefined>;
  /** Returns the live source of a node; null when it has no address. */
  sourceOf(place: StreamLocation): Promise<LiveSource | null>;
  clock: Clock;
}

/** Segments the other node may still publish until it detects the loss of the encoder. */
const MARGIN = 2;
const SINCE_MS = Date.UTC(2026, 0, 1);
/** No stream has two segments a second for long: numbers by the clock are ahead of all that were counted. */
const PER_NUMBER_MS = 500;

/**
 * Finds the last segment numbers of a stream on its previous node, so that players see them continue. When
 * that node is unreachable, numbers derived from the clock exceed all it can have published.
 */
export function createLastServed({ before, sourceOf, clock }: Options) {
  return async (streamId: string, sinceMs: number): Promise<DvrPosition | null> => {
    const place = await before(streamId, sinceMs);
    if (place === undefined) return null;
    const text = await (await sourceOf(place))?.text(streamId, 'src.m3u8');
    const shown = parseMediaPlaylist(text?.text ?? '');
    const byClock = Math.floor((clock.ms() - SINCE_MS) / PER_NUMBER_MS);
    const seq = shown === null ? byClock : shown.nextSeq + MARGIN;
    return { seq, disc: shown?.disc ?? byClock, epoch: place.nodeId };
  };
}
