import type { Clock } from '../../kernel/clock.ts';
import type { DvrPosition, StreamLocation } from '../contract/index.ts';
import { parseMediaPlaylist } from '../live/playlist.ts';
import type { RemoteSources } from './remote-source.ts';

interface Options {
  /** The other node that a stream was on since a moment; undefined where there was none. */
  before(streamId: string, sinceMs: number): Promise<StreamLocation | undefined>;
  remote: Pick<RemoteSources, 'on'>;
  clock: Clock;
}

/** What the other node may still show until it knows that the encoder has gone. */
const MARGIN = 2;
const SINCE_MS = Date.UTC(2026, 0, 1);
/** No stream has two segments a second for long: numbers by the clock are ahead of all that were counted. */
const PER_NUMBER_MS = 500;

/**
 * How far the numbers of a stream have come that another node had before, so that players see them go on. Where that node
 * cannot be asked, numbers by the clock are greater than any that it can have shown.
 */
export function createLastServed({ before, remote, clock }: Options) {
  return async (streamId: string, sinceMs: number): Promise<DvrPosition | null> => {
    const place = await before(streamId, sinceMs);
    if (place === undefined) return null;
    const { nodeId, url } = place;
    const text = url === null ? null : await remote.on({ nodeId, url }).text(streamId, 'src.m3u8');
    const shown = parseMediaPlaylist(text?.text ?? '');
    const byClock = Math.floor((clock.ms() - SINCE_MS) / PER_NUMBER_MS);
    const seq = shown === null ? byClock : shown.nextSeq + MARGIN;
    return { seq, disc: shown?.disc ?? byClock, epoch: nodeId };
  };
}
