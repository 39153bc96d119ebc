import type { PublishGrant } from './ingest.ts';

interface OfStream {
  bridgeId: string;
  /** Stream that the bridge feeds or plays. */
  streamId: string;
  /** Restarts the bridge after a failure. */
  autoRestart: boolean;
}

/** Bridge that a node is to run now. */
export type DesiredBridge =
  | (OfStream & {
      type: 'PULL_TO_STREAM';
      /** Source URL, a secret: it may contain a key or a password. */
      sourceUrl: string;
    })
  | (OfStream & { type: 'ROOM_TO_STREAM'; roomId: string; layout: 'GRID' | 'SPEAKER' | 'SINGLE' })
  | (OfStream & { type: 'STREAM_TO_ROOM'; roomId: string });

/** Content for rendering the video of a room. */
export interface RoomView {
  name: string;
  /** Participants with permission to publish, in the order in which they joined. */
  people: readonly { identity: string; name: string }[];
}

/** Seat of a stream in a room. */
export interface RoomParticipantHandle {
  /** Identity of the participant. */
  identity: string;
  maxParticipants: number;
  /** Tracks muted by a host. */
  muted: { audio: boolean; video: boolean };
}

/** Reason why a bridge ended by itself. */
export type BridgeEnd = 'SOURCE_ENDED' | 'TARGET_TAKEN';

/** Status report of a bridge. PENDING waits for the next attempt. */
export interface BridgeReport {
  bridgeId: string;
  status: 'PENDING' | 'CONNECTING' | 'ACTIVE' | 'FAILED' | 'STOPPED';
  /** Set only with STOPPED. */
  endReason: BridgeEnd | null;
  /** Human-readable; never contains a secret. */
  message: string | null;
  retryCount: number;
  retryInMs: number | null;
}

/** Port of the media plane to the bridges feature; filled by the composition root. */
export interface BridgePort {
  /** Called when a media node starts: releases the bridges of its previous process. */
  started(nodeId: string): Promise<void>;
  /**
   * Returns the bridges that this node is to run now. No other node gets them while this node's lease lasts.
   *
   * @param hasRooms whether the node can reach the room engine.
   * @param machine IDs of all nodes of this machine, which share the bridges that any of them can run: a
   *   stream is played in a room by the node that it is published to. Default: only this node.
   */
  wanted(nodeId: string, hasRooms: boolean, machine?: readonly string[]): Promise<DesiredBridge[]>;
  /** One that is out of date changes nothing. */
  report(nodeId: string, report: BridgeReport): Promise<void>;
  /**
   * Returns what the plan allows a bridge to publish to a stream now.
   *
   * @returns a message with the reason when it may not publish.
   */
  admit(streamId: string): Promise<PublishGrant | string>;
  /** Returns the participants of a room; null when the room has ended. */
  viewRoom(roomId: string): Promise<RoomView | null>;
  /**
   * Returns the seat of a STREAM_TO_ROOM bridge in its room; reserves one if it has none. The seat is
   * released when the bridge no longer runs.
   *
   * @returns a message with the reason when there is no seat.
   */
  seat(bridgeId: string): Promise<RoomParticipantHandle | string>;
}

/** Longest time a node may run a bridge without polling the desired state; then another node may run it. */
export const BRIDGE_LEASE_MS = 30_000;
