/**
 * The team of an account: who may act for it, as what, and who is invited.
 *
 * Terminology: a *member* is a person, known by the account of their own, who may act for another account within a
 * role; a *seat* is the place of the owner, of a member or of an invitation that is pending.
 */
export { teamEvents } from './events.ts';
export { teamRoutes } from './routes.ts';
export { createTeam, type Team } from './service.ts';
