/**
 * Bookings: who has a time of a creator, or a seat in a class or cohort (docs/concepts/bookings.md).
 *
 * Terminology: a time of a ONE_TO_ONE is *held* from the beginning of its checkout; a seat is *claimed* when its buyer
 * presses Pay, and *taken* once it is paid.
 */

export {
  type BookingOffer,
  type BookingPrice,
  type BookingSales,
  createBookingSales,
  type NewBooking,
} from './booking-sales.service.ts';
export { type BookingCalendar, createBookingCalendar } from './calendar-invites.ts';
export { createBookingConsumers } from './consumers.ts';
export { type BookingEmails, createBookingEmails } from './emails.ts';
export {
  type BookingEvents,
  bookingCanceled,
  bookingConfirmed,
  bookingEvents,
  bookingExpired,
  bookingRescheduled,
} from './events.ts';
export { cohortMovedJob } from './jobs.ts';
export { bookingJoinPages } from './join.pages.ts';
export { type BookingLinks, createBookingLinks } from './links.ts';
export { createCohortNotifier } from './members.service.ts';
export type { BookingPorts, HeldSpot } from './ports.ts';
export { type BookingDetails, type BookingRow, countBookings, type OccurrenceRow } from './repository.ts';
export { type BookingRooms, createBookingRooms } from './rooms.service.ts';
export { bookingRoutes } from './routes.ts';
export { refundableUntil } from './rules.ts';
export { type ClassSeats, type ClassTime, createClassSeats } from './seats.ts';
export { type Bookings, type Cancellation, createBookings } from './service.ts';
export { createBookingSimulations } from './simulation.service.ts';
export { createBookingSweep } from './sweep.service.ts';
