import type { Selectable } from 'kysely';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { MINUTE_MS } from '../../../kernel/durations.ts';
import { AppError, badRequest } from '../../../kernel/errors.ts';
import { normalizeTimezone } from '../../../kernel/timezone.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { BookingProductTable } from '../../../platform/db/tables.generated.ts';
import type { BusyInterval, BusyOwner, Calendar } from '../calendars/index.ts';
import { listOccurrences } from './repository.ts';
import {
  type AvailabilityWindows,
  bookable,
  type Candidate,
  candidates,
  localTimes,
  parseDayRange,
  type Range,
  type SlotDurations,
  withoutConflicts,
} from './rules.ts';

/** Product columns that determine its slots. */
export type SlotProduct = Pick<
  Selectable<BookingProductTable>,
  'id' | 'workspace_id' | 'type' | 'status' | 'duration_min' | 'buffer_min' | 'capacity'
>;

/** Slot that can be booked now. */
export interface Slot {
  startsAt: Date;
  endsAt: Date;
  /** End of the buffer. */
  freeAt: Date;
  /** Free seats of a class; 1 for a ONE_TO_ONE. */
  seatsLeft: number;
}

/** Times of a product (docs/concepts/booking-availability.md#slots). */
export interface Slots {
  /**
   * Lists slots by start, with `localStart` as the wall time of the zone.
   *
   * @param query days of `timezone`, the last included; by default of the creator's zone.
   * @throws {AppError} NOT_FOUND; BAD_REQUEST, field `from`, `to` or `timezone`.
   */
  list(
    workspaceId: string,
    productId: string,
    query: { from?: string; to?: string; timezone?: string },
  ): Promise<{ timezone: string; slots: (Slot & { localStart: string })[] }>;
  /**
   * Validates that this start is offered now. Only the calendar decides (`Calendar.take`); this check names
   * the reason beforehand.
   *
   * @param except owner to ignore in the calendar: the booking that is moved, or the offer that is accepted.
   * @throws {AppError} field `startsAt`: CONFLICT when the time is taken, BAD_REQUEST when no slot begins
   *   then.
   */
  assertOffered(db: Db, product: SlotProduct, startsAt: Date, except?: BusyOwner): Promise<Slot>;
}

export interface SlotDeps {
  db: Db;
  clock: Clock;
  calendar: Pick<Calendar, 'busy' | 'taken'>;
  products: {
    /** @throws {AppError} NOT_FOUND. */
    get(workspaceId: string, id: string): Promise<SlotProduct>;
  };
  availability: { of(db: Db, workspaceId: string): Promise<AvailabilityWindows> };
}

const MAX_SLOTS = 10_000;

interface CandidateWithSeats extends Candidate {
  seatsLeft: number;
}

export function createSlots({ db, clock, calendar, products, availability }: SlotDeps): Slots {
  return {
    async list(workspaceId, productId, query) {
      const [product, hours] = await Promise.all([
        products.get(workspaceId, productId),
        availability.of(db, workspaceId),
      ]);
      const timezone = query.timezone === undefined ? hours.timezone : normalizeTimezone(query.timezone);
      const range = parseDayRange(query, timezone, clock.ms());
      if (product.type === 'COHORT' || product.status === 'ARCHIVED') return { timezone, slots: [] };
      const offered = bookable(candidates(hours, lengthsOf(product), range), hours, clock.ms());
      const taken = await calendar.taken(db, workspaceId, around(range, offered));
      const open = [
        ...withoutConflicts(offered, taken).map((one) => ({ ...one, seatsLeft: seatsOf(product) })),
        ...bookable(await occurrences(db, product, range), hours, clock.ms()).filter(hasSeats),
      ].toSorted((a, b) => a.startMs - b.startMs);
      if (open.length > MAX_SLOTS) {
        throw badRequest('to', `The range contains more than ${MAX_SLOTS} slots. Request fewer days.`);
      }
      const localStart = localTimes(timezone, range);
      return {
        timezone,
        slots: open.map((one) => ({ ...toSlot(one), localStart: localStart(one.startMs) })),
      };
    },
    async assertOffered(tx, product, startsAt, except) {
      const hours = await availability.of(tx, product.workspace_id);
      const range = { fromMs: startsAt.getTime(), toMs: startsAt.getTime() + 1 };
      const [known] = await occurrences(tx, product, range);
      const [place] =
        known === undefined
          ? candidates(hours, lengthsOf(product), range).map((one) => ({
              ...one,
              seatsLeft: seatsOf(product),
            }))
          : [known];
      if (place === undefined || product.type === 'COHORT') throw badRequest('startsAt', NO_SLOT);
      if (bookable([place], hours, clock.ms()).length === 0) throw badRequest('startsAt', NOT_OFFERED);
      if (known === undefined) {
        const taken = await calendar.busy(tx, product.workspace_id, around(range, [place]));
        const others = taken.filter((one) => !isBy(one, except));
        if (withoutConflicts([place], others.map(rangeOf)).length === 0) throw takenAlready();
      } else if (!hasSeats(known)) throw takenAlready();
      return toSlot(place);
    },
  };
}

const NO_SLOT =
  'No slot of this product starts at this time. List slots with GET /booking/products/{id}/slots.';
const NOT_OFFERED =
  "This time is unavailable: it is too soon, too far ahead, or outside the creator's availability.";

function takenAlready(): AppError {
  return new AppError('CONFLICT', { field: 'startsAt', message: 'This time slot is no longer available.' });
}

const lengthsOf = ({ duration_min, buffer_min }: SlotProduct): SlotDurations => ({
  durationMin: duration_min,
  bufferMin: buffer_min,
});

const seatsOf = ({ type, capacity }: SlotProduct) => (type === 'LIVE_CLASS' ? capacity : 1);
const hasSeats = ({ seatsLeft }: CandidateWithSeats) => seatsLeft > 0;

/** Returns classes with bookings, which stay open until they are full, regardless of the current windows. */
async function occurrences(db: Db, product: SlotProduct, range: Range): Promise<CandidateWithSeats[]> {
  if (product.type !== 'LIVE_CLASS') return [];
  const rows = await listOccurrences(db, product.id, range);
  return rows.map(({ startsAt, endsAt, capacity, booked, claimed }) => ({
    startMs: startsAt.getTime(),
    endMs: endsAt.getTime(),
    freeMs: endsAt.getTime() + product.buffer_min * MINUTE_MS,
    seatsLeft: capacity - booked - claimed,
  }));
}

/** Returns the range that must be free, including the buffer of the last slot. */
function around({ fromMs, toMs }: Range, offered: readonly Candidate[]): { from: Date; to: Date } {
  return { from: dateFromMs(fromMs), to: dateFromMs(Math.max(toMs, offered.at(-1)?.freeMs ?? toMs)) };
}

const rangeOf = ({ startsAt, freeAt }: BusyInterval): Range => ({
  fromMs: startsAt.getTime(),
  toMs: freeAt.getTime(),
});

function isBy(one: BusyInterval, by: BusyOwner | undefined): boolean {
  if (by === undefined) return false;
  if ('bookingId' in by) return one.bookingId === by.bookingId;
  if ('waitlistId' in by) return one.waitlistId === by.waitlistId;
  return 'occurrenceId' in by && one.occurrenceId === by.occurrenceId;
}

function toSlot({ startMs, endMs, freeMs, seatsLeft }: CandidateWithSeats): Slot {
  return { startsAt: dateFromMs(startMs), endsAt: dateFromMs(endMs), freeAt: dateFromMs(freeMs), seatsLeft };
}
