import { dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import { badRequest } from '../../../kernel/errors.ts';
import type { BookingProductType } from '../../../platform/db/tables.generated.ts';

/** Requested spot. Both null: any spot of the product. */
export interface Spot {
  cohortId: string | null;
  startsAt: Date | null;
}

/** Maximum validity of an offer. */
const OFFER_MS = DAY_MS;

/**
 * Returns when an offer that is sent now expires (docs/concepts/booking-waitlist.md#offers).
 *
 * @param closesAt when the spot can no longer be booked.
 * @returns null when it is too late to offer the spot.
 */
export function offerEnd(now: Date, closesAt: Date): Date | null {
  const end = Math.min(now.getTime() + OFFER_MS, closesAt.getTime());
  return end > now.getTime() ? dateFromMs(end) : null;
}

/**
 * Validates that a product type has a waitlist for this spot.
 *
 * @throws {AppError} BAD_REQUEST, field `cohortId` or `startsAt`.
 */
export function assertSpot(type: BookingProductType, { cohortId, startsAt }: Spot, now: Date): void {
  if (type === 'COHORT' && startsAt !== null) {
    throw badRequest('startsAt', 'Use cohortId, not startsAt, for a cohort.');
  }
  if (type !== 'COHORT' && cohortId !== null)
    throw badRequest('cohortId', 'This product does not have cohorts.');
  if (startsAt !== null && startsAt <= now) throw badRequest('startsAt', 'startsAt must be in the future.');
}
