import type {
  DeliveryLogStatus as DeliveryStatus,
  DeliveryLogTrigger as DeliveryTrigger,
} from '../../../../platform/db/tables.generated.ts';

/** Why a delivery is CANCELED. */
export const DISABLED_REASON = 'the webhook is not active';

/**
 * Reports whether the delivery is manual: it is sent once, regardless of `events` and `isActive`
 * (docs/decisions/events-and-deliveries.md#the-retry-schedule).
 */
export function isSingle(trigger: DeliveryTrigger): boolean {
  return trigger === 'TEST' || trigger === 'REPLAY';
}

/**
 * Returns the state after an attempt (docs/decisions/events-and-deliveries.md#the-retry-schedule):
 * `retrySeconds` has the delay before each further attempt, so there is one attempt more than delays. Tests
 * and replays have one attempt.
 *
 * @param attempt counted from 1.
 */
export function afterAttempt(
  success: boolean,
  attempt: number,
  trigger: DeliveryTrigger,
  retrySeconds: readonly number[],
): { status: DeliveryStatus; retrySec: number | null } {
  if (success) return { status: 'SUCCESS', retrySec: null };
  if (isSingle(trigger)) return { status: 'FAILED', retrySec: null };
  const retrySec = retrySeconds[attempt - 1];
  return retrySec === undefined ? { status: 'EXHAUSTED', retrySec: null } : { status: 'FAILED', retrySec };
}
