import type { DeliveryStatus } from '../../../platform/db/tables/events.ts';

/**
 * What follows an attempt (contract 6.3): `retrySeconds` has the delay before each further one, so there are
 * as many attempts as delays and one more.
 *
 * @param attempt counted from 1.
 */
export function afterAttempt(
  success: boolean,
  attempt: number,
  retrySeconds: readonly number[],
): { status: DeliveryStatus; retrySec: number | null } {
  if (success) return { status: 'SUCCESS', retrySec: null };
  const retrySec = retrySeconds[attempt - 1];
  return retrySec === undefined ? { status: 'EXHAUSTED', retrySec: null } : { status: 'FAILED', retrySec };
}
