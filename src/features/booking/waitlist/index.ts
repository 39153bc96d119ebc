/**
 * Who waits for places of booking products (docs/concepts/booking-waitlist.md).
 *
 * Terminology: a place is *kept* for whoever it is offered to, as it is for a booking that is paid just now.
 */
export { createWaitlistConsumers } from './consumers.ts';
export { waitlistEvents } from './events.ts';
export type { WaitlistPorts } from './ports.ts';
export type { EntryRow } from './repository.ts';
export { waitlistRoutes } from './routes.ts';
export { createWaitlist, type Waitlist } from './service.ts';
