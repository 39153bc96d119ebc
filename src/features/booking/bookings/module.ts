import { writeCalendar } from '../../../platform/icalendar.ts';
import type { Payments } from '../../commerce/payments/index.ts';
import type { Mailbox, MailCaps } from '../../integration/mail/index.ts';
import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { participantJoined, Rooms, roomRecordingReady } from '../../rooms/index.ts';
import type { Availability } from '../availability/index.ts';
import type { calendar } from '../calendars/index.ts';
import type { Cohorts, cohortCanceled, cohortCompleted, cohortRescheduled } from '../cohorts/index.ts';
import type { Products } from '../products/index.ts';
import type { Slots } from '../slots/index.ts';
import type { Waitlist } from '../waitlist/index.ts';
import { type BookingSales, createBookingSales } from './booking-sales.service.ts';
import { type BookingCalendar, createBookingCalendar } from './calendar-invites.ts';
import { createBookingConsumers } from './consumers.ts';
import { createBookingEmails } from './emails.ts';
import {
  bookingCanceled,
  bookingConfirmed,
  bookingEvents,
  bookingExpired,
  bookingRescheduled,
} from './events.ts';
import { cohortMovedJob } from './jobs.ts';
import { bookingJoinPages } from './join.pages.ts';
import { type BookingLinks, createBookingLinks } from './links.ts';
import { createCohortNotifier } from './members.service.ts';
import type { BookingPorts } from './ports.ts';
import { createBookingRooms } from './rooms.service.ts';
import { bookingRoutes } from './routes.ts';
import type { ClassSeats } from './seats.ts';
import { type Bookings, createBookings } from './service.ts';
import { createBookingSimulations } from './simulation.service.ts';
import { createBookingSweep } from './sweep.service.ts';

export { countBookings } from './repository.ts';
export { refundableUntil } from './rules.ts';
export { createClassSeats } from './seats.ts';

export const bookingsDeclarations: Declarations = { events: bookingEvents, jobs: [cohortMovedJob] };

interface BookingsDeps
  extends Pick<Platform, 'clock' | 'config' | 'cursors' | 'db' | 'events' | 'jobs' | 'log' | 'secrets'> {
  availability: Availability;
  cohorts: Cohorts;
  mailCaps: MailCaps;
  mailbox: Mailbox;
  payments: Payments;
  products: Products;
  rooms: Rooms;
  slots: Slots;
  waitlist: Waitlist;
  classSeats: ClassSeats;
  calendar: typeof calendar;
  cohortCanceled: typeof cohortCanceled;
  cohortCompleted: typeof cohortCompleted;
  cohortRescheduled: typeof cohortRescheduled;
  participantJoined: typeof participantJoined;
  roomRecordingReady: typeof roomRecordingReady;
}

type CalendarFile = Parameters<BookingPorts['calendarFile']>[0];

interface BookingsExports {
  bookings: Bookings;
  bookingSales: BookingSales;
  bookingLinks: BookingLinks;
  bookingCalendar: BookingCalendar;
}

/** Events of bookings, for other features. */
export const BOOKING_EVENTS = {
  confirmed: bookingConfirmed,
  rescheduled: bookingRescheduled,
  canceled: bookingCanceled,
  expired: bookingExpired,
};

/** Builds the bookings and their rooms. */
export function createBookingsModule(deps: BookingsDeps): FeatureModule & BookingsExports {
  const { config, cursors, availability, classSeats: seats } = deps;
  const publicUrl = config.PUBLIC_URL;
  const links = createBookingLinks({ ...deps, publicUrl });
  const ports: BookingPorts = {
    ...deps,
    calendarFile: (file) => written(file, { from: config.MAIL_FROM, host: new URL(publicUrl).hostname }),
    timezoneOf: async (db, workspaceId) => (await availability.of(db, workspaceId)).timezone,
  };
  const shared = { ...ports, seats, letters: createBookingEmails({ ...ports, links }) };
  const bookings = createBookings(shared);
  const sales = createBookingSales(shared);
  const bookingRooms = createBookingRooms({ ...deps, links, publicUrl });
  const sweep = createBookingSweep({ ...shared, bookings });
  const simulations = createBookingSimulations({ ...deps, bookings });
  return {
    bookings,
    bookingSales: sales,
    bookingLinks: links,
    bookingCalendar: createBookingCalendar({ ...ports, links }),
    routes: () => bookingRoutes({ bookings, simulations, links, cursors }),
    pages: ({ assets }) => [bookingJoinPages({ rooms: bookingRooms, assets })],
    consumers: createBookingConsumers(
      { ...deps, bookings, sales },
      {
        room: { joined: deps.participantJoined, recorded: deps.roomRecordingReady },
        cohort: {
          completed: deps.cohortCompleted,
          canceled: deps.cohortCanceled,
          rescheduled: deps.cohortRescheduled,
        },
      },
    ),
    jobs: () => [createCohortNotifier(shared)],
    tasks: () => [
      { name: 'bookings', everyMs: 15 * INTERVALS.second, run: () => sweep.run() },
      { name: 'booking rooms', everyMs: 30 * INTERVALS.second, run: () => bookingRooms.prepare() },
    ],
  };
}

/**
 * Emails and invitations come from the platform, so the creator's address stays private. A downloaded file is
 * not an invitation.
 */
function written({ method, entries }: CalendarFile, { from, host }: { from: string; host: string }): string {
  const email = /([^<\s]+@[^>\s]+)>?\s*$/.exec(from)?.[1] ?? from;
  return writeCalendar({
    method,
    entries: entries.map(({ uid, isCanceled, organizer, attendee, ...entry }) => ({
      ...entry,
      uid: `${uid}@${host}`,
      status: isCanceled ? 'CANCELLED' : 'CONFIRMED',
      organizer: { name: organizer, email },
      ...(method === 'PUBLISH' ? {} : { attendee }),
    })),
  });
}
