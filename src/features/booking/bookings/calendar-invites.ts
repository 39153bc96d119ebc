import type { Db } from '../../../platform/db/index.ts';
import type { BookingLinks } from './links.ts';
import type { BookingPorts, CalendarEntry, CalendarMethod } from './ports.ts';
import type { BookingContext, BookingRow } from './repository.ts';
import * as repository from './repository.ts';

export type InvitationDeps = Pick<BookingPorts, 'calendarFile' | 'cohorts' | 'clock'> & {
  links: Pick<BookingLinks, 'joinUrl' | 'manageUrl'>;
};

/** Calendar data of bookings for external calendars, with stable UIDs. */
export interface BookingCalendar {
  /** Returns the calendar file of a booking; null without a time: a cohort without upcoming sessions. */
  file(db: Db, row: BookingRow): Promise<string | null>;
}

export function createBookingCalendar(deps: InvitationDeps): BookingCalendar {
  return {
    async file(db, row) {
      const facts = await repository.findBookingContext(db, row.id);
      return calendarInvite(deps, { row, facts, times: await timesOf(deps, db, row) }, 'PUBLISH');
    },
  };
}

export const nameOf = ({ name, username }: BookingContext) => name ?? username;

/** Booking and the data of its emails to the customer. */
export interface BookingEmailContext {
  row: BookingRow;
  facts: BookingContext;
  times: readonly OccurrenceTime[];
}

/** Returns an iCalendar object; null when the booking has no time. */
export function calendarInvite(
  deps: InvitationDeps,
  { row, facts, times }: BookingEmailContext,
  method: CalendarMethod,
): string | null {
  if (times.length === 0) return null;
  const isOff = method === 'CANCEL' || row.status === 'CANCELED';
  const entries = times.map(({ isRemoved, ...time }) => ({
    ...entryOf(deps, row, facts),
    ...time,
    isCanceled: isOff || isRemoved,
  }));
  const isAllOff = method === 'REQUEST' && entries.every(({ isCanceled }) => isCanceled);
  return deps.calendarFile({ method: isAllOff ? 'CANCEL' : method, entries });
}

/** Time of a booking, or of one session of its cohort. */
export type OccurrenceTime = Pick<CalendarEntry, 'uid' | 'startsAt' | 'endsAt'> & {
  /** Marks a session that is no longer held, which the customer may not know yet. */
  isRemoved: boolean;
};

/** Returns the time of a booking, or the upcoming sessions of its cohort. */
export async function timesOf(deps: InvitationDeps, db: Db, row: BookingRow): Promise<OccurrenceTime[]> {
  return row.cohort_id === null ? ownTime(row) : sessionTimes(deps, db, row, row.cohort_id);
}

function ownTime({ id, starts_at: startsAt, ends_at: endsAt }: BookingRow): OccurrenceTime[] {
  return startsAt === null || endsAt === null ? [] : [{ uid: id, startsAt, endsAt, isRemoved: false }];
}

async function sessionTimes(
  { cohorts, clock }: InvitationDeps,
  db: Db,
  row: BookingRow,
  cohortId: string,
): Promise<OccurrenceTime[]> {
  const held = await cohorts.sessions(db, cohortId);
  const removed = await cohorts.removedSessions(db, cohortId, row.cohort_revision);
  const timeOf = (session: (typeof held)[number], isRemoved: boolean) => ({
    uid: `${row.id}-${session.id}`,
    startsAt: session.starts_at,
    endsAt: session.ends_at,
    isRemoved,
  });
  return [...held.map((one) => timeOf(one, false)), ...removed.map((one) => timeOf(one, true))].filter(
    ({ endsAt }) => endsAt > clock.now(),
  );
}

function entryOf({ links }: InvitationDeps, row: BookingRow, facts: BookingContext) {
  return {
    sequence: row.ics_sequence,
    timezone: facts.cohort_timezone ?? row.timezone,
    title: `${facts.title} with ${nameOf(facts)}`,
    location: links.joinUrl(row),
    url: links.manageUrl(row.id),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    organizer: nameOf(facts),
    attendee: { name: row.customer_name, email: row.customer_email },
  };
}
