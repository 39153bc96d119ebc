/**
 * Cohorts: groups that take a course together (docs/concepts/booking-cohorts.md).
 *
 * Terminology: a *member* has a booking of the cohort; a seat is *claimed* while a buyer pays for it or holds
 * an offer.
 */
export { createCohortConsumers } from './consumers.ts';
export { cohortCanceled, cohortCompleted, cohortEvents, cohortRescheduled } from './events.ts';
export type { CohortRow } from './repository.ts';
export { hasCohort } from './repository.ts';
export { cohortRoutes } from './routes.ts';
export { type Cohorts, createCohorts } from './service.ts';
export { createStates, type Seats } from './status.ts';
