/**
 * Waitlist for spots of booking products (docs/concepts/booking-waitlist.md).
 *
 * Terminology: a spot is *held* for the entry that it is offered to, as it is for a booking in payment.
 */
export type { EntryRow } from './repository.ts';
export type { Waitlist } from './service.ts';
