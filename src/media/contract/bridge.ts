import type { PublishGrant } from './ingest.ts';

interface OfStream {
  bridgeId: string;
  /** That it feeds, or that it plays. */
  streamId: string;
  /** What fails is tried again. */
  autoRestart: boolean;
}

/** What is to be carried now. */
export type DesiredBridge =
  | (OfStream & {
      type: 'PULL_TO_STREAM';
      /** A secret: it may have a key or a password in it. */
      sourceUrl: string;
    })
  | (OfStream & { type: 'ROOM_TO_STREAM'; roomId: string; layout: 'GRID' | 'SPEAKER' | 'SINGLE' })
  | (OfStream & { type: 'STREAM_TO_ROOM'; roomId: string });

/** What a picture of a room is made of. */
export interface RoomView {
  name: string;
  /** Who may send something into it, in the order in which they came. */
  people: readonly { identity: string; name: string }[];
}

/** A stream's place in a room. */
export interface RoomParticipantHandle {
  /** Of the participant. */
  identity: string;
  maxParticipants: number;
  /** By a host. */
  muted: { audio: boolean; video: boolean };
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
  /**
   * What this node is to run now. Nobody else is told the same while this node's lease lasts.
   *
   * @param hasRooms it can reach what carries rooms.
   */
  wanted(nodeId: string, hasRooms: boolean): Promise<DesiredBridge[]>;
  /** One that is out of date changes nothing. */
  report(nodeId: string, report: BridgeReport): Promise<void>;
  /**
   * What a bridge may publish to a stream now, by its plan.
   *
   * @returns why it may not, in words.
   */
  admit(streamId: string): Promise<PublishGrant | string>;
  /** Who is in a room now; null when it is over. */
  viewRoom(roomId: string): Promise<RoomView | null>;
  /**
   * The place of a STREAM_TO_ROOM bridge in its room, taken where it has none yet. It is given up when the bridge is no
   * longer run.
   *
   * @returns why there is none, in words.
   */
  seat(bridgeId: string): Promise<RoomParticipantHandle | string>;
}

/** How long a node may go on without having asked what is wanted; then another may run it. */
export const BRIDGE_LEASE_MS = 30_000;
