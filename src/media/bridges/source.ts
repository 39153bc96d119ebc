import type { Outbound } from '../../platform/outbound/index.ts';
import type { PublishGrant } from '../contract/index.ts';
import type { Demuxer } from './demuxer.ts';
import type { Playout } from './playout.ts';

/** How a source is played: see `PlayoutOptions`. */
export type BeginPlayout = (options: { aheadMs: number; tracks: number }) => Playout;

export interface SourceContext {
  outbound: Pick<Outbound, 'download' | 'connect' | 'datagrams' | 'userAgent'>;
  demuxer: Demuxer;
  /** What the target may take: the best that fits is chosen where there is a choice. */
  grant: PublishGrant;
  begin: BeginPlayout;
  /** Ends it. */
  signal: AbortSignal;
}

/** A bridge that feeds no stream, but plays one elsewhere. */
export interface BridgePlayer {
  /**
   * Until the stream ends, or `signal` is aborted.
   *
   * @throws {PushFailure} or what `failureOf` makes one of.
   */
  play(context: { onActive(): void; signal: AbortSignal }): Promise<void>;
}

/** Where the media of a bridge come from. */
export interface BridgeSource {
  /**
   * Fetches it until it ends.
   *
   * @returns when it has told its end, or `signal` is aborted.
   * @throws {PushFailure} or what `failureOf` makes one of.
   */
  run(context: SourceContext): Promise<void>;
  /** Once it has told its end, it does not come back: a playlist, a room. What is live may. */
  endsForGood: boolean;
}
