/** Pure rules for adding an email address to the list (docs/concepts/subscribers.md#states). */

export type Status = 'PENDING' | 'CONFIRMED' | 'UNSUBSCRIBED';

/** Stored state of an email address. */
export interface AddressState {
  /** Status; null when the address is not on the list. */
  status: Status | null;
  /** True when the address was ever unsubscribed, even if its row is deleted. */
  hasLeft: boolean;
  /** Time of the last confirmation request. */
  askedAt: Date | null;
}

export interface Outcome {
  status: Status;
  /** True when the address is added to the list, or returns to it. */
  isAdded: boolean;
  /** True when a confirmation email is sent. */
  isAsked: boolean;
}

/**
 * @param hasConsent the caller states when the person agreed; this does not override an earlier unsubscribe.
 */
export function addOutcome(
  { status, hasLeft, askedAt }: AddressState,
  hasConsent: boolean,
  now: Date,
): Outcome {
  if (status === 'CONFIRMED') return { status, isAdded: false, isAsked: false };
  const isConfirmed = hasConsent && !hasLeft;
  return {
    status: isConfirmed ? 'CONFIRMED' : 'PENDING',
    isAdded: status !== 'PENDING',
    isAsked: !isConfirmed && !isSameDay(askedAt, now),
  };
}

/** Compares days in UTC. */
function isSameDay(at: Date | null, now: Date): boolean {
  return at !== null && at.toISOString().slice(0, 10) === now.toISOString().slice(0, 10);
}
