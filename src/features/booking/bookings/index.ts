/**
 * Bookings: who has a time of a creator, or a seat in a class or cohort (docs/concepts/bookings.md).
 *
 * Terminology: a time of a ONE_TO_ONE is *held* from the beginning of its checkout; a seat is *claimed* when its buyer
 * presses Pay, and *taken* once it is paid.
 */
export type { BookingOffer, BookingPrice, BookingSales } from './booking-sales.service.ts';
export type { BookingCalendar } from './calendar-invites.ts';
export type { BookingEvents } from './events.ts';
export type { BookingLinks } from './links.ts';
export type { BookingDetails, BookingRow, countBookings } from './repository.ts';
export type { refundableUntil } from './rules.ts';
export type { ClassSeats } from './seats.ts';
export type { Bookings } from './service.ts';
