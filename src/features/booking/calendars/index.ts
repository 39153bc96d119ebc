/** Busy times of a creator and external calendars (docs/concepts/booking-calendars.md). */

export type { BusyInterval, BusyOwner, Span } from './busy.repository.ts';
export { type Calendar, calendar } from './busy.ts';
export { createExternalCalendars } from './external.service.ts';
export { feedPage } from './feed.pages.ts';
export { createBookingFeed } from './feed.service.ts';
export { calendarRoutes } from './routes.ts';
