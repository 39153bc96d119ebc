/** Busy times of a creator and external calendars (docs/concepts/booking-calendars.md). */
export type { BusyInterval, BusyOwner, Span } from './busy.repository.ts';
export type { Calendar, calendar } from './busy.ts';
