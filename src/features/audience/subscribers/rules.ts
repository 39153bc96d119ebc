/** What becomes of an address that is added to the list, pure (docs/concepts/subscribers.md#states). */

export type Status = 'PENDING' | 'CONFIRMED' | 'UNSUBSCRIBED';

/** What is known of an address. */
export interface AddressState {
  /** Null: it is not on the list. */
  status: Status | null;
  /** It has left the list once, whatever became of its row. */
  hasLeft: boolean;
  /** When it was last asked to confirm. */
  askedAt: Date | null;
}

export interface Outcome {
  status: Status;
  /** It comes to the list, or back to it. */
  isAdded: boolean;
  /** It is asked to confirm. */
  isAsked: boolean;
}

/** @param hasConsent whoever adds it says when the person agreed: this is no answer to one who has left. */
export function addedTo({ status, hasLeft, askedAt }: AddressState, hasConsent: boolean, now: Date): Outcome {
  if (status === 'CONFIRMED') return { status, isAdded: false, isAsked: false };
  const isConfirmed = hasConsent && !hasLeft;
  return {
    status: isConfirmed ? 'CONFIRMED' : 'PENDING',
    isAdded: status !== 'PENDING',
    isAsked: !isConfirmed && !isSameDay(askedAt, now),
  };
}

/** Of the days of UTC. */
function isSameDay(at: Date | null, now: Date): boolean {
  return at !== null && at.toISOString().slice(0, 10) === now.toISOString().slice(0, 10);
}
