import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../events/catalogue.ts';
import { named } from '../../http/named.ts';
import { OneOf } from '../../http/schema.ts';
import { TEAM_ROLES } from '../../kernel/access.ts';

const data = named(
  'TeamEventData',
  Type.Object({
    memberId: Type.String(),
    userId: Type.String({ description: 'The account that is the member’s own.' }),
    teamRole: OneOf(TEAM_ROLES),
    sequence: Type.Integer({ minimum: 1, description: 'Increases with each event about this member.' }),
  }),
);
const sample = {
  memberId: 'mem_01kafe3n4pfx2v9yq6m8d7t5zr',
  userId: 'usr_01kafe3n4pfx2v9yq6m8d7t5zr',
  teamRole: 'EDITOR',
} as const;

export const teamMemberAdded = defineEvent({
  type: 'team.member_added',
  description: 'Somebody has accepted an invitation to the team.',
  data,
  sample: { ...sample, sequence: 1 },
  notice: {
    severity: 'INFO',
    words: ({ memberId: id, teamRole }) => ({
      title: `Somebody has joined your team as ${teamRole}`,
      body: 'GET /team tells who.',
      resource: { type: 'TEAM_MEMBER', id },
    }),
  },
});

export const teamMemberRemoved = defineEvent({
  type: 'team.member_removed',
  description: 'Somebody was removed from the team, or has left it. The keys that they made are revoked.',
  data,
  sample: { ...sample, sequence: 3 },
  notice: {
    severity: 'INFO',
    words: ({ memberId: id, teamRole }) => ({
      title: `A member of your team with the role ${teamRole} is gone`,
      body: 'They were removed, or have left. The API keys that they made are revoked.',
      resource: { type: 'TEAM_MEMBER', id },
    }),
  },
});

export const teamRoleChanged = defineEvent({
  type: 'team.role_changed',
  description: 'A member of the team has another role; the keys that they made act within it.',
  data,
  sample: { ...sample, sequence: 2 },
  notice: {
    severity: 'INFO',
    words: ({ memberId: id, teamRole }) => ({
      title: `A member of your team is now ${teamRole}`,
      body: 'GET /team tells who. The API keys that they made act within the new role.',
      resource: { type: 'TEAM_MEMBER', id },
    }),
  },
});

/** They go to the live workspace: the team is of the account. */
export const teamEvents: EventDefinition[] = [teamMemberAdded, teamMemberRemoved, teamRoleChanged];
