import type { PublishGrant } from './ingest.ts';

/** Somebody who wants to publish by WHIP (RFC 9725). */
export interface WhipOffer {
  sessionId: string;
  streamId: string;
  /** Session description, unmodified. */
  offer: string;
}

/** What the media plane asks and tells of publishes by WHIP; filled by the composition root. */
export interface WhipPort {
  /** A media node starts: the sessions of its former life are gone. */
  started(nodeId: string): Promise<void>;
  /** Takes what waits for an answer: nobody else is told the same. */
  take(nodeId: string): Promise<WhipOffer[]>;
  answered(sessionId: string, sdp: string): Promise<void>;
  /** @param words for whoever has offered. */
  refused(sessionId: string, words: string): Promise<void>;
  /** The node carries its sessions. @returns the ids of those whose clients have not ended them. */
  carried(nodeId: string): Promise<ReadonlySet<string>>;
  ended(sessionId: string): Promise<void>;
  /**
   * What may be published to a stream now, whoever publishes to it already.
   *
   * @returns why nothing may, in words.
   */
  admit(streamId: string): Promise<PublishGrant | string>;
  /** This node takes publishes by WHIP, now. */
  isThere(): void;
}
