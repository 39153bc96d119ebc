/** Cohorts: groups that take a course together (docs/api/booking-products.md). */
export { hasCohort } from './repository.ts';
