import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { OneOf } from '../../../http/schema.ts';
import { TEAM_ROLES } from '../../../kernel/access.ts';

const data = namedSchema(
  'TeamEventData',
  Type.Object({
    memberId: Type.String(),
    userId: Type.String({ description: 'ID of the member’s own account.' }),
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
  description: 'An invitation to the team was accepted.',
  data,
  sample: { ...sample, sequence: 1 },
  notice: {
    severity: 'INFO',
    words: ({ memberId: id, teamRole }) => ({
      title: `New team member with the role ${teamRole}`,
      body: 'See GET /team for details.',
      resource: { type: 'TEAM_MEMBER', id },
    }),
  },
});

export const teamMemberRemoved = defineEvent({
  type: 'team.member_removed',
  description: 'A member was removed from the team or left it. The keys they created were revoked.',
  data,
  sample: { ...sample, sequence: 3 },
  notice: {
    severity: 'INFO',
    words: ({ memberId: id, teamRole }) => ({
      title: `Team member with the role ${teamRole} left`,
      body: 'The member was removed or left. The API keys they created were revoked.',
      resource: { type: 'TEAM_MEMBER', id },
    }),
  },
});

export const teamRoleChanged = defineEvent({
  type: 'team.role_changed',
  description: 'The role of a team member changed; the keys they created are limited to the new role.',
  data,
  sample: { ...sample, sequence: 2 },
  notice: {
    severity: 'INFO',
    words: ({ memberId: id, teamRole }) => ({
      title: `A member of your team is now ${teamRole}`,
      body: 'See GET /team. The API keys they created are limited to the new role.',
      resource: { type: 'TEAM_MEMBER', id },
    }),
  },
});

/** Events of the team, emitted in the live workspace, because a team belongs to the account. */
export const teamEvents: EventDefinition[] = [teamMemberAdded, teamMemberRemoved, teamRoleChanged];
