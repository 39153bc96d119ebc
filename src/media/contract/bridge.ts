import type { PublishGrant } from './ingest.ts';

/** One source that is to be fetched now, and becomes the signal of a stream. */
export interface WantedBridge {
  bridgeId: string;
  streamId: string;
  /** A secret: it may have a key or a password in it. */
  sourceUrl: string;
  /** What fails is tried again. */
  autoRestart: boolean;
}

/** Why a bridge has ended by itself. */
export type BridgeEnd = 'SOURCE_ENDED' | 'TARGET_TAKEN';

/** What has become of a bridge. PENDING waits for the next attempt. */
export interface BridgeReport {
  bridgeId: string;
  status: 'PENDING' | 'CONNECTING' | 'ACTIVE' | 'FAILED' | 'STOPPED';
  /** With STOPPED alone. */
  endReason: BridgeEnd | null;
  /** For people; never with a secret in it. */
  message: string | null;
  retryCount: number;
  retryInMs: number | null;
}

/** What the media plane asks and tells of bridges; filled by the composition root. */
export interface BridgePort {
  /** A media node starts: what its former life ran is free. */
  started(nodeId: string): Promise<void>;
  /** What this node is to run now. Nobody else is told the same while this node's lease lasts. */
  wanted(nodeId: string): Promise<WantedBridge[]>;
  /** One that is out of date changes nothing. */
  report(nodeId: string, report: BridgeReport): Promise<void>;
  /**
   * What a bridge may publish to a stream now, by its plan.
   *
   * @returns why it may not, in words.
   */
  admit(streamId: string): Promise<PublishGrant | string>;
}

/** How long a node may go on without having asked what is wanted; then another may run it. */
export const BRIDGE_LEASE_MS = 30_000;
