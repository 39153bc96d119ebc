/**
 * Team of an account: members, roles and invitations.
 *
 * Terminology: a *member* is a person, identified by their own account, who may act for another account
 * within a role; a *seat* is used by the owner, by a member or by a pending invitation.
 */
export type { Team } from './service.ts';
