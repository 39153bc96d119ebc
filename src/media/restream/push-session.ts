import type { PushError } from './failure.ts';

/** A connection to a destination that has accepted the broadcast. */
export interface PushSession {
  /** Why it is over; null after `end`. Never rejects. */
  readonly closed: Promise<PushError | null>;
  /** What the network has taken. */
  sentBytes(): number;
  /** Tells the destination that it is over, and hangs up. */
  end(): Promise<void>;
}
