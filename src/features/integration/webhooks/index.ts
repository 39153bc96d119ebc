/**
 * Webhooks: registrations, and the engine that delivers events to them.
 *
 * Terminology: a *delivery* is one event on its way to one webhook; a *job* is a delivery that still has an
 * attempt to come; an *attempt* is one signed POST and one row of the delivery log.
 */
export type { attemptsSince, oldestWaitSec } from './delivery/health.repository.ts';
export type { Webhooks } from './service.ts';
