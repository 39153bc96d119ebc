import { noKey, requiresRead, requiresWrite, sessionOnly } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Limit, type Route } from '../../../http/route.ts';
import { CommaList, Deleted, IdParams, parseList } from '../../../http/schema.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { HOUR_SEC, MINUTE_SEC } from '../../../kernel/durations.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import { statusAt } from './rules.ts';
import {
  Accepted,
  Invitation,
  InvitationIn,
  LeaveIn,
  Left,
  Member,
  Preview,
  RoleIn,
  TeamOut,
  TokenIn,
  toInvitation,
  toMember,
} from './schemas.ts';
import type { Team } from './service.ts';

const InvitationId = IdParams('inv', 'invitation');
const MemberId = IdParams('mem', 'member');
const path = '/team/invitations';

/** Limits of invitations: each one sends an email. */
const INVITATIONS: readonly Limit[] = [
  { bucket: 'team-invitations', per: 'key', max: 100, windowSec: HOUR_SEC, refusal: 'RATE_LIMITED' },
];
const PREVIEWS: readonly Limit[] = [
  { bucket: 'team-previews', per: 'ip', max: 60, windowSec: MINUTE_SEC, refusal: 'RATE_LIMITED' },
];

interface Deps {
  team: Team;
  cursors: CursorCodec;
  clock: Clock;
}

/** `/team` (docs/concepts/team.md): of the account, whichever mode the key has. */
export function teamRoutes(deps: Deps): Route[] {
  return [...memberRoutes(deps), ...invitationRoutes(deps), ...personRoutes(deps)];
}

function memberRoutes({ team }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresRead('team:read'),
      operationId: 'team.get',
      method: 'GET',
      path: '/team',
      summary: 'Get the team',
      description: 'Returns the owner, the members, and the seats used.',
      reply: { status: 200, schema: TeamOut },
      async handler({ caller: { accountId } }) {
        const { members, ...seats } = await team.get(accountId);
        return { accountId, ...seats, members: members.map(toMember) };
      },
    }),
    defineRoute({
      ...requiresWrite('team:write'),
      onlyMode: 'live',
      operationId: 'team.updateMember',
      method: 'PATCH',
      path: '/team/members/{id}',
      summary: "Change a member's role",
      description:
        "Takes effect with the member's next request, including requests made with keys they created. Returns CONFLICT for the owner.",
      params: MemberId,
      body: RoleIn,
      reply: { status: 200, schema: Member },
      errors: ['CONFLICT', 'MINT_CEILING_EXCEEDED'],
      handler: async ({ caller }, { params, body }) =>
        toMember(await team.setRole(caller, params.id, body.teamRole)),
    }),
    defineRoute({
      ...requiresWrite('team:write'),
      onlyMode: 'live',
      operationId: 'team.removeMember',
      method: 'DELETE',
      path: '/team/members/{id}',
      summary: 'Remove a member',
      description:
        'Revokes the keys the member created and ends their access to this account. Returns CONFLICT for the owner.',
      params: MemberId,
      reply: { status: 200, schema: Deleted },
      errors: ['CONFLICT'],
      async handler({ caller }, { params: { id } }) {
        await team.remove(caller, id);
        return { id, deleted: true };
      },
    }),
  ];
}

function invitationRoutes({ team, cursors, clock }: Deps): Route[] {
  const { status } = VALUES.team_invitation;
  return [
    defineRoute({
      ...requiresWrite('team:write'),
      onlyMode: 'live',
      operationId: 'team.invite',
      method: 'POST',
      path,
      summary: 'Invite a team member',
      description:
        'Sends an email with a link that is valid for 7 days. The invitation occupies a seat until it is accepted or expires. Returns CONFLICT if the person is already a member or invited.',
      limits: INVITATIONS,
      body: InvitationIn,
      reply: { status: 201, schema: Invitation },
      errors: ['CONFLICT', 'MINT_CEILING_EXCEEDED', 'QUOTA_EXCEEDED'],
      handler: async ({ caller }, { body }) => toInvitation(await team.invite(caller, body), clock.ms()),
    }),
    defineRoute({
      ...requiresRead('team:read'),
      operationId: 'team.invitations',
      method: 'GET',
      path,
      summary: 'List team invitations',
      description: 'Includes closed invitations unless filtered by `status`.',
      query: listQuery({ status: CommaList(status) }),
      reply: { status: 200, schema: Invitation, list: true },
      async handler({ caller: { accountId } }, { query }) {
        const list = new ListReader(cursors, `team-invitations:${accountId}`, query);
        const filter = { status: parseList('status', status, query.status) };
        const rows = await team.invitations(accountId, filter, list.request);
        return list.page(rows, (row) => toInvitation(row, clock.ms()));
      },
    }),
    defineRoute({
      ...requiresWrite('team:write'),
      onlyMode: 'live',
      operationId: 'team.revokeInvitation',
      method: 'DELETE',
      path: `${path}/{id}`,
      summary: 'Revoke an invitation',
      description: 'Frees the seat. Returns CONFLICT if the invitation was accepted.',
      params: InvitationId,
      reply: { status: 200, schema: Deleted },
      errors: ['CONFLICT'],
      async handler({ caller }, { params: { id } }) {
        await team.revoke(caller, id);
        return { id, deleted: true };
      },
    }),
  ];
}

/** Returns the routes to accept an invitation or to leave, which need no permission in the account. */
function personRoutes({ team, clock }: Deps): Route[] {
  return [
    defineRoute({
      ...noKey,
      operationId: 'team.previewInvitation',
      method: 'POST',
      path: `${path}/preview`,
      summary: 'Preview an invitation',
      description: 'For the page the invitation link opens.',
      limits: PREVIEWS,
      body: TokenIn,
      reply: { status: 200, schema: Preview },
      errors: ['NOT_FOUND'],
      async handler(_context, { body: { token } }) {
        const { accountName, invitation } = await team.preview(token);
        return {
          accountName,
          email: invitation.email,
          teamRole: invitation.team_role,
          status: statusAt(invitation, clock.ms()),
          expiresAt: invitation.expires_at.toISOString(),
        };
      },
    }),
    defineRoute({
      ...sessionOnly,
      operationId: 'team.acceptInvitation',
      method: 'POST',
      path: `${path}/accept`,
      summary: 'Accept an invitation',
      description:
        'Requires a session with the invited email address, which is verified by accepting. Returns CONFLICT if the invitation is no longer valid or was sent to another address.',
      body: TokenIn,
      reply: { status: 200, schema: Accepted },
      errors: ['CONFLICT', 'NOT_FOUND', 'QUOTA_EXCEEDED'],
      handler: ({ caller: { actor } }, { body: { token } }) => team.accept(actor.userId, token),
    }),
    defineRoute({
      ...sessionOnly,
      operationId: 'team.leave',
      method: 'POST',
      path: '/team/leave',
      summary: 'Leave a team',
      description: 'Returns NOT_FOUND if you are not a member of the account. The owner cannot leave.',
      body: LeaveIn,
      reply: { status: 200, schema: Left },
      errors: ['CONFLICT', 'NOT_FOUND'],
      async handler({ caller: { actor } }, { body: { accountId } }) {
        await team.leave(actor.userId, accountId);
        return { accountId, left: true };
      },
    }),
  ];
}
