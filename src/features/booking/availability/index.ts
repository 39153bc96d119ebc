/** When a creator has time to be booked (docs/concepts/booking-availability.md). */
export { availabilityRoutes } from './routes.ts';
export type { AvailabilityRules, WeeklySchedule } from './rules.ts';
export { type Availability, createAvailability, hasWindows } from './service.ts';
