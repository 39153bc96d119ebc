/** Somebody who wants to watch by WHEP (draft-ietf-wish-whep). */
export interface WhepOffer {
  sessionId: string;
  streamId: string;
  /** Session description, unmodified. */
  offer: string;
}

/**
 * Why nobody is shown anything: `OFFER` is not what can be answered, what is published cannot be shown by WebRTC
 * (`SIGNAL`), or as many watch as may (`FULL`).
 */
export type WhepRejection = 'OFFER' | 'SIGNAL' | 'FULL';

/** What the media plane asks and tells of viewers by WHEP; filled by the composition root. */
export interface WhepPort {
  /** A media node starts: the viewers of its former life are gone. */
  started(nodeId: string): Promise<void>;
  /**
   * Takes what waits for an answer: nobody else is told the same.
   *
   * @param streamIds of those that are published here.
   */
  take(nodeId: string, streamIds: readonly string[]): Promise<WhepOffer[]>;
  answered(sessionId: string, sdp: string): Promise<void>;
  /** @param words for whoever has offered. */
  refused(sessionId: string, why: WhepRejection, words: string): Promise<void>;
  /**
   * Tells how many bytes each viewer of the node was sent so far.
   *
   * @returns the ids of those who may watch on.
   */
  carried(nodeId: string, sent: ReadonlyMap<string, number>): Promise<ReadonlySet<string>>;
  ended(sessionId: string): Promise<void>;
  /** This node has viewers by WHEP, now. */
  isThere(): void;
}
