/** When a creator has time to be booked (docs/concepts/booking-availability.md). */
export type { Availability, hasWindows } from './service.ts';
