import type { PushFailure } from './failure.ts';

/** A connection to a destination that has accepted the broadcast. */
export interface PushSession {
  /** Why it is over; null after `end`. Never rejects. */
  readonly closed: Promise<PushFailure | null>;
  /** What the network has taken. */
  sentBytes(): number;
  /** Tells the destination that it is over, and hangs up. */
  end(): Promise<void>;
}
