import type { Shape } from '../../app/shape.ts';

export type GivenRole = Shape<'GivenTeamRole'>;

/** Roles that can be granted, least privileged first. */
export const GIVEN_ROLES: readonly GivenRole[] = ['ANALYST', 'EDITOR', 'ADMIN'];

/** Returns the role for the text value of a select. */
export function givenRole(value: string): GivenRole {
  return GIVEN_ROLES.find((role) => role === value) ?? 'ANALYST';
}
