import type { PushError } from './failure.ts';

/** A connection to a destination that has accepted the broadcast. */
export interface PushSession {
  /** Resolves with the reason of the end; null after `end`. Never rejects. */
  readonly closed: Promise<PushError | null>;
  /** Returns the bytes accepted by the network. */
  sentBytes(): number;
  /** Announces the end to the destination, and hangs up. */
  end(): Promise<void>;
}
