/** When a product can be booked (docs/concepts/booking-availability.md#slots). */
export type { Slots } from './service.ts';
