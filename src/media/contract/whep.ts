/** Offer of a client that wants to play by WHEP (draft-ietf-wish-whep). */
export interface WhepOffer {
  sessionId: string;
  streamId: string;
  /** Session description, unmodified. */
  offer: string;
}

/**
 * Reason for a rejected viewer: the offer is invalid or unsupported (`OFFER`), WebRTC cannot play the signal
 * (`SIGNAL`), or the viewer limit is reached (`FULL`).
 */
export type WhepRejection = 'OFFER' | 'SIGNAL' | 'FULL';

/** Port of the media plane to WHEP viewers; filled by the composition root. */
export interface WhepPort {
  /** Called when a media node starts: ends the viewer sessions of its previous process. */
  started(nodeId: string): Promise<void>;
  /**
   * Claims the offers that wait for an answer: no other node gets them.
   *
   * @param streamIds streams published on this node.
   */
  take(nodeId: string, streamIds: readonly string[]): Promise<WhepOffer[]>;
  answered(sessionId: string, sdp: string): Promise<void>;
  /** @param words message for the client. */
  refused(sessionId: string, why: WhepRejection, words: string): Promise<void>;
  /**
   * Reports the number of bytes sent to each viewer of the node.
   *
   * @returns the IDs of the sessions that may continue.
   */
  carried(nodeId: string, sent: ReadonlyMap<string, number>): Promise<ReadonlySet<string>>;
  ended(sessionId: string): Promise<void>;
  /** Announces that this node serves WHEP viewers. */
  isThere(): void;
}
