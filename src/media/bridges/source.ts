import type { Outbound } from '../../platform/outbound/index.ts';
import type { PublishGrant } from '../contract/index.ts';
import type { Demuxer } from './demuxer.ts';
import type { Playout } from './playout.ts';

/** How a source is played: see `PlayoutOptions`. */
export type BeginPlayout = (options: { aheadMs: number; tracks: number }) => Playout;

export interface SourceContext {
  outbound: Pick<Outbound, 'download' | 'connect' | 'datagrams' | 'userAgent'>;
  demuxer: Demuxer;
  /** Limits of the target: where there is a choice, the best variant that fits is taken. */
  grant: PublishGrant;
  begin: BeginPlayout;
  /** Ends it. */
  signal: AbortSignal;
}

/** Bridge that plays a stream into another system instead of feeding one. */
export interface BridgePlayer {
  /**
   * Plays until the stream ends, or `signal` is aborted.
   *
   * @throws {PushError} or an error that `toPushError` converts to one.
   */
  play(context: { onActive(): void; signal: AbortSignal }): Promise<void>;
}

/** Media source of a bridge. */
export interface BridgeSource {
  /**
   * Fetches the source until it ends.
   *
   * @returns when it has announced its end, or `signal` is aborted.
   * @throws {PushError} or an error that `toPushError` converts to one.
   */
  run(context: SourceContext): Promise<void>;
  /**
   * Whether a source that announced its end stays ended, such as a playlist or a room; a live source may
   * return.
   */
  endsForGood: boolean;
}
