import type { Shape } from '../../app/shape.ts';

export type GivenRole = Shape<'GivenTeamRole'>;

/** Those that can be given, the one that may do least first. */
export const GIVEN_ROLES: readonly GivenRole[] = ['ANALYST', 'EDITOR', 'ADMIN'];

/** Of a list of choices, whose values are texts. */
export function givenRole(value: string): GivenRole {
  return GIVEN_ROLES.find((role) => role === value) ?? 'ANALYST';
}
