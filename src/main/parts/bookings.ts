import type { Availability } from '../../features/booking/availability/index.ts';
import {
  type BookingCalendar,
  type BookingEvents,
  type BookingLinks,
  type BookingPorts,
  type BookingSales,
  type Bookings,
  bookingCanceled,
  bookingConfirmed,
  bookingExpired,
  bookingJoinPages,
  bookingRescheduled,
  bookingRoutes,
  type ClassSeats,
  createBookingCalendar,
  createBookingConsumers,
  createBookingEmails,
  createBookingLinks,
  createBookingRooms,
  createBookingSales,
  createBookingSimulations,
  createBookingSweep,
  createBookings,
  createClassSeats,
  createCohortNotifier,
} from '../../features/booking/bookings/index.ts';
import { calendar } from '../../features/booking/calendars/index.ts';
import {
  type Cohorts,
  cohortCanceled,
  cohortCompleted,
  cohortRescheduled,
} from '../../features/booking/cohorts/index.ts';
import type { Products } from '../../features/booking/products/index.ts';
import type { Slots } from '../../features/booking/slots/index.ts';
import type { Waitlist } from '../../features/booking/waitlist/index.ts';
import type { Payments } from '../../features/commerce/payments/index.ts';
import type { Mailbox, MailCaps } from '../../features/integration/mail/index.ts';
import { participantJoined, type Rooms, roomRecordingReady } from '../../features/rooms/index.ts';
import { writeCalendar } from '../../platform/icalendar.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

interface Needs extends BaseContext {
  availability: Availability;
  cohorts: Cohorts;
  mailbox: Mailbox;
  mailCaps: MailCaps;
  payments: Payments;
  products: Products;
  rooms: Rooms;
  slots: Slots;
  waitlist: Waitlist;
}

type CalendarFile = Parameters<BookingPorts['calendarFile']>[0];

interface Gives {
  bookings: Bookings;
  bookingSales: BookingSales;
  bookingLinks: BookingLinks;
  bookingCalendar: BookingCalendar;
  classSeats: ClassSeats;
  booking: BookingEvents;
}

/** Events that bookings emit. */
export const booking = {
  confirmed: bookingConfirmed,
  rescheduled: bookingRescheduled,
  canceled: bookingCanceled,
  expired: bookingExpired,
};

/** Builds the bookings and their rooms. */
export function bookingsPart(needs: Needs): ModuleWithExports<Gives> {
  const { config, cursors, availability } = needs;
  const publicUrl = config.PUBLIC_URL;
  const links = createBookingLinks({ ...needs, publicUrl });
  const ports: BookingPorts = {
    ...needs,
    calendar,
    calendarFile: (file) => written(file, { from: config.MAIL_FROM, host: new URL(publicUrl).hostname }),
    timezoneOf: async (db, workspaceId) => (await availability.of(db, workspaceId)).timezone,
  };
  const seats = createClassSeats(ports);
  const deps = { ...ports, seats, letters: createBookingEmails({ ...ports, links }) };
  const bookings = createBookings(deps);
  const sales = createBookingSales(deps);
  const bookingRooms = createBookingRooms({ ...needs, links, publicUrl });
  const sweep = createBookingSweep({ ...deps, bookings });
  const simulations = createBookingSimulations({ ...needs, bookings });
  return {
    exports: {
      bookings,
      bookingSales: sales,
      bookingLinks: links,
      bookingCalendar: createBookingCalendar({ ...ports, links }),
      classSeats: seats,
      booking,
    },
    module: {
      routes: () => bookingRoutes({ bookings, simulations, links, cursors }),
      pages: ({ assets }) => [bookingJoinPages({ rooms: bookingRooms, assets })],
      consumers: createBookingConsumers(
        { ...needs, bookings, sales },
        {
          room: { joined: participantJoined, recorded: roomRecordingReady },
          cohort: { completed: cohortCompleted, canceled: cohortCanceled, rescheduled: cohortRescheduled },
        },
      ),
      jobs: () => [createCohortNotifier(deps)],
      tasks: () => [
        { name: 'bookings', everyMs: 15 * INTERVALS.second, run: () => sweep.run() },
        { name: 'rooms of bookings', everyMs: 30 * INTERVALS.second, run: () => bookingRooms.prepare() },
      ],
    },
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
