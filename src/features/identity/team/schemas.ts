import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { TEAM_ROLES, type TeamRole } from '../../../kernel/access.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { InvitationRow, Person } from './repository.ts';
import { ASSIGNABLE_ROLES, statusAt } from './rules.ts';

const TeamRoleName = namedSchema('TeamRole', OneOf(TEAM_ROLES));
const GivenRoleName = namedSchema('GivenTeamRole', OneOf(ASSIGNABLE_ROLES));

export const Member = namedSchema(
  'TeamMember',
  Type.Object({
    id: IdOf('mem'),
    userId: IdOf('usr', "ID of the member's own account."),
    email: Type.String(),
    name: Nullable(Type.String()),
    teamRole: TeamRoleName,
    status: OneOf(['ACTIVE', 'SUSPENDED'] as const, { description: "Status of the member's own account." }),
    joinedAt: Instant,
    lastActiveAt: Nullable(
      Type.String({
        ...Instant,
        description: 'Last activity in the dashboard for this account, accurate to a few minutes.',
      }),
    ),
  }),
  {
    id: 'mem_01kafe3n4pfx2v9yq6m8d7t5zr',
    userId: 'usr_01kafe3n4pfx2v9yq6m8d7t5zr',
    email: 'grace@example.com',
    name: 'Grace Hopper',
    teamRole: 'EDITOR',
    status: 'ACTIVE',
    joinedAt: '2026-11-20T09:00:00.000Z',
    lastActiveAt: '2026-11-20T10:00:00.000Z',
  },
);

export const TeamOut = namedSchema(
  'Team',
  Type.Object({
    accountId: IdOf('usr'),
    seatsUsed: Type.Integer({ description: 'Seats used by the owner, members, and pending invitations.' }),
    seatsLimit: Type.Integer({ description: 'Seats included in the plan.' }),
    members: Type.Array(Member, { description: 'Team members, starting with the owner.' }),
  }),
);

export const InvitationIn = namedSchema(
  'TeamInvitationCreate',
  Type.Object({
    email: Type.String({ maxLength: 300, description: 'At most 254 characters; trimmed and lowercased.' }),
    teamRole: GivenRoleName,
  }),
  { email: 'grace@example.com', teamRole: 'EDITOR' },
);
export type InvitationIn = Static<typeof InvitationIn>;

export const RoleIn = namedSchema('TeamMemberUpdate', Type.Object({ teamRole: GivenRoleName }), {
  teamRole: 'ANALYST',
});

export const Invitation = namedSchema(
  'TeamInvitation',
  Type.Object({
    id: IdOf('inv'),
    email: Type.String(),
    teamRole: GivenRoleName,
    status: OneOf(VALUES.team_invitation.status),
    invitedBy: IdOf('usr', 'Who sent the invitation.'),
    createdAt: Instant,
    expiresAt: Instant,
  }),
  {
    id: 'inv_01kafe3n4pfx2v9yq6m8d7t5zr',
    email: 'grace@example.com',
    teamRole: 'EDITOR',
    status: 'PENDING',
    invitedBy: 'usr_01kafe3n4pfx2v9yq6m8d7t5zr',
    createdAt: '2026-11-20T09:00:00.000Z',
    expiresAt: '2026-11-27T09:00:00.000Z',
  },
);

export const TokenIn = namedSchema(
  'TeamInvitationToken',
  Type.Object({ token: Type.String({ maxLength: 100, description: 'Token from the link in the email.' }) }),
  { token: 'Yq7k2Jw0p3b1l9e6u4s8x5z7r2t0v1n3m6c9d8f5g4h' },
);

export const Preview = namedSchema(
  'TeamInvitationPreview',
  Type.Object({
    accountName: Type.String({ description: 'Name of the account the team belongs to.' }),
    email: Type.String({ description: 'Email address of the invited person.' }),
    teamRole: GivenRoleName,
    status: OneOf(VALUES.team_invitation.status),
    expiresAt: Instant,
  }),
  {
    accountName: 'Ada Lovelace',
    email: 'grace@example.com',
    teamRole: 'EDITOR',
    status: 'PENDING',
    expiresAt: '2026-11-27T09:00:00.000Z',
  },
);

export const Accepted = namedSchema(
  'TeamInvitationAccepted',
  Type.Object({
    accountId: IdOf('usr', 'Account ID for `X-Account-Id`.'),
    name: Type.String(),
    teamRole: GivenRoleName,
  }),
  { accountId: 'usr_01kafe3n4pfx2v9yq6m8d7t5zr', name: 'Ada Lovelace', teamRole: 'EDITOR' },
);

export const LeaveIn = namedSchema(
  'TeamLeave',
  Type.Object({
    accountId: Type.String({ maxLength: 100, description: 'ID of the account whose team to leave.' }),
  }),
  { accountId: 'usr_01kafe3n4pfx2v9yq6m8d7t5zr' },
);

export const Left = namedSchema(
  'TeamLeft',
  Type.Object({ accountId: IdOf('usr'), left: Type.Literal(true) }),
  {
    accountId: 'usr_01kafe3n4pfx2v9yq6m8d7t5zr',
    left: true,
  },
);

export function toMember(member: Person & { id: string; teamRole: TeamRole }): Static<typeof Member> {
  const { id, userId, email, name, teamRole, suspendedAt, joinedAt, lastActiveAt } = member;
  return {
    id,
    userId,
    email,
    name,
    teamRole,
    status: suspendedAt === null ? 'ACTIVE' : 'SUSPENDED',
    joinedAt: joinedAt.toISOString(),
    // Activity before rejoining belongs to an earlier membership.
    lastActiveAt: lastActiveAt !== null && lastActiveAt >= joinedAt ? lastActiveAt.toISOString() : null,
  };
}

export function toInvitation(row: InvitationRow, nowMs: number): Static<typeof Invitation> {
  return {
    id: row.id,
    email: row.email,
    teamRole: row.team_role,
    status: statusAt(row, nowMs),
    invitedBy: row.invited_by,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  };
}
