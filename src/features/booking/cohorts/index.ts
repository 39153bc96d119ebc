/**
 * Cohorts: groups that take a course together (docs/concepts/booking-cohorts.md).
 *
 * Terminology: a *member* has a booking of the cohort; a seat is *claimed* while a buyer pays for it or holds
 * an offer.
 */
export type { cohortCanceled, cohortCompleted, cohortRescheduled } from './events.ts';
export type { hasCohort } from './repository.ts';
export type { Cohorts } from './service.ts';
