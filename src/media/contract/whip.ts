import type { PublishGrant } from './ingest.ts';

/** Offer of a client that wants to publish by WHIP (RFC 9725). */
export interface WhipOffer {
  sessionId: string;
  streamId: string;
  /** Session description, unmodified. */
  offer: string;
}

/** Port of the media plane to WHIP publishes; filled by the composition root. */
export interface WhipPort {
  /** Called when a media node starts: ends the sessions of its previous process. */
  started(nodeId: string): Promise<void>;
  /** Claims the offers that wait for an answer: no other node gets them. */
  take(nodeId: string): Promise<WhipOffer[]>;
  answered(sessionId: string, sdp: string): Promise<void>;
  /** @param words message for the client. */
  refused(sessionId: string, words: string): Promise<void>;
  /** Returns the IDs of the node's sessions whose clients have not ended them. */
  carried(nodeId: string): Promise<ReadonlySet<string>>;
  ended(sessionId: string): Promise<void>;
  /**
   * Returns the grant for a publish to a stream, regardless of any current publisher.
   *
   * @returns a message with the reason when nothing may be published.
   */
  admit(streamId: string): Promise<PublishGrant | string>;
  /** Announces that this node accepts WHIP publishes. */
  isThere(): void;
}
