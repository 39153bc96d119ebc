import type { PullAddress } from '../../kernel/pull-address.ts';
import type { Outbound } from '../../platform/outbound/index.ts';
import type { PublishGrant } from '../contract/index.ts';
import type { Demuxer } from './demuxer.ts';
import type { Playout } from './playout.ts';

/** How a source is played: see `PlayoutOptions`. */
export type BeginPlayout = (options: { aheadMs: number; tracks: number }) => Playout;

export interface SourceContext {
  outbound: Pick<Outbound, 'download' | 'connect' | 'datagrams'>;
  demuxer: Demuxer;
  /** What the target may take: the best that fits is chosen where there is a choice. */
  grant: PublishGrant;
  begin: BeginPlayout;
  /** Ends it. */
  signal: AbortSignal;
}

/**
 * Fetches a source until it ends.
 *
 * @returns when it has told its end, or `signal` is aborted.
 * @throws {PushFailure} or what `failureOf` makes one of.
 */
export type RunSource<A extends PullAddress = PullAddress> = (
  address: A,
  context: SourceContext,
) => Promise<void>;
