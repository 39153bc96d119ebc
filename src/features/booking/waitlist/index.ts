/**
 * Waitlist for spots of booking products (docs/concepts/booking-waitlist.md).
 *
 * Terminology: a spot is *held* for the entry that it is offered to, as it is for a booking in payment.
 */
export { createWaitlistConsumers } from './consumers.ts';
export { waitlistEvents } from './events.ts';
export type { WaitlistPorts } from './ports.ts';
export type { EntryRow } from './repository.ts';
export { waitlistRoutes } from './routes.ts';
export { createWaitlist, type Waitlist } from './service.ts';
