/** What of a creator's time is taken (docs/api/booking-calendars.md). */

export type { Busy, Span, TakenBy } from './busy.repository.ts';
export { type Calendar, calendar } from './busy.ts';
