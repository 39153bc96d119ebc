import { dateFromMs } from '../../../kernel/clock.ts';
import { MINUTE_MS } from '../../../kernel/durations.ts';
import { AppError, notFound } from '../../../kernel/errors.ts';
import { formatInZone } from '../../../kernel/format-time.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { ProductRow } from '../products/index.ts';
import type { CohortFacts, WaitlistPorts } from './ports.ts';
import type { Spot } from './rules.ts';

/** Resource held for an entry: of a class, the occurrence with the claimed seat. */
export interface HeldSpot {
  occurrenceId: string | null;
}

/** Spots as bookable resources: a slot, a seat of a class at one time, a seat of a cohort. */
export interface Spots {
  /**
   * Reports whether the spot could be booked now.
   *
   * @throws {AppError} BAD_REQUEST, field `startsAt`, when no slot begins then; NOT_FOUND for another
   *   product's cohort; CONFLICT, field `cohortId`, for a cohort that has ended or whose enrollment has.
   */
  isFree(db: Db, product: ProductRow, place: Spot): Promise<boolean>;
  /** Returns when the spot can no longer be booked; null when it has no waitlist. */
  closesAt(db: Db, product: ProductRow, place: Spot): Promise<Date | null>;
  /** Holds the spot for an entry. @returns null when none is available. */
  keep(tx: Tx, product: ProductRow, place: Spot, waitlistId: string): Promise<HeldSpot | null>;
  giveUp(tx: Tx, entry: { id: string; offered_cohort_id: string | null } & Occupied): Promise<void>;
  /** Returns the displayed name. */
  nameOf(db: Db, product: ProductRow, place: Spot): Promise<string>;
}

interface Occupied {
  occurrence_id: string | null;
}

type Needs = Pick<WaitlistPorts, 'cohorts' | 'classSeats' | 'calendar' | 'slots' | 'availability' | 'clock'>;

const GONE: readonly string[] = ['RUNNING', 'COMPLETED', 'CANCELED'];

export function createSpots(needs: Needs): Spots {
  const { cohorts, classSeats, calendar, slots, availability } = needs;
  return {
    isFree: (db, product, place) => isFree(needs, db, product, place),
    async closesAt(db, product, { cohortId, startsAt }) {
      if (cohortId !== null) {
        const cohort = await cohorts.find(db, cohortId);
        if (cohort === undefined || GONE.includes(cohort.status)) return null;
        return closesAtOf(cohort);
      }
      if (startsAt === null) return null;
      const { minNoticeMin } = await availability.of(db, product.workspace_id);
      return dateFromMs(startsAt.getTime() - minNoticeMin * MINUTE_MS);
    },
    async keep(tx, product, { cohortId, startsAt }, waitlistId) {
      if (cohortId !== null) {
        return (await cohorts.seats.claim(tx, cohortId)) ? { occurrenceId: null } : null;
      }
      const time = startsAt && (await whenOffered(slots.assertOffered(tx, product, startsAt)));
      if (time === null) return null;
      if (product.type === 'LIVE_CLASS') {
        const seat = await classSeats.claim(tx, product, time);
        return seat && { occurrenceId: seat.id };
      }
      const { workspace_id: workspaceId, id: productId } = product;
      const { freeAt } = time;
      const span = { startsAt: time.startsAt, freeAt };
      const isKept = await calendar.take(tx, { workspaceId, productId, ...span, by: { waitlistId } });
      return isKept ? { occurrenceId: null } : null;
    },
    async giveUp(tx, { id, offered_cohort_id: cohortId, occurrence_id: occurrenceId }) {
      if (cohortId !== null) return cohorts.seats.release(tx, cohortId);
      if (occurrenceId !== null) return classSeats.release(tx, occurrenceId);
      return calendar.free(tx, { waitlistId: id });
    },
    async nameOf(db, product, { cohortId, startsAt }) {
      if (cohortId !== null) {
        const cohort = await cohorts.find(db, cohortId);
        if (cohort === undefined) return product.title;
        const begins = `begins on ${formatInZone(cohort.starts_at, cohort.timezone)}`;
        return `${product.title}${cohort.title === null ? '' : `, ${cohort.title}`}, ${begins}`;
      }
      if (startsAt === null) return product.title;
      const { timezone } = await availability.of(db, product.workspace_id);
      return `${product.title}, ${formatInZone(startsAt, timezone)}`;
    },
  };
}

const closesAtOf = (cohort: CohortFacts) => cohort.enrollment_closes_at ?? cohort.starts_at;

async function isFree(
  { cohorts, slots, clock }: Needs,
  db: Db,
  product: ProductRow,
  { cohortId, startsAt }: Spot,
): Promise<boolean> {
  if (cohortId !== null) {
    const cohort = await cohorts.find(db, cohortId);
    if (cohort === undefined || cohort.product_id !== product.id) throw notFound();
    if (GONE.includes(cohort.status) || closesAtOf(cohort) <= clock.now()) {
      throw new AppError('CONFLICT', { field: 'cohortId', message: 'This cohort is closed to new members.' });
    }
    const capacity = cohort.capacity ?? product.capacity;
    return cohort.status === 'OPEN' && cohort.enrolled_count + cohort.reserved_count < capacity;
  }
  // An entry for any spot waits for spots that become free.
  if (startsAt === null) return false;
  try {
    await slots.assertOffered(db, product, startsAt);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'CONFLICT') return false;
    throw error;
  }
}

/** Returns the slot; null when it is not offered. */
async function whenOffered<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}
