import { keyless, reads, signedIn, writes } from '../../http/access.ts';
import { ListReader, listQuery } from '../../http/pagination.ts';
import { defineRoute, type Limit, type Route } from '../../http/route.ts';
import { CommaList, Deleted, IdParams, parseList } from '../../http/schema.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { CursorCodec } from '../../kernel/cursor.ts';
import { HOUR_SEC, MINUTE_SEC } from '../../kernel/durations.ts';
import { VALUES } from '../../platform/db/tables.generated.ts';
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

/** Each sends a mail. */
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
      ...reads('team:read'),
      operationId: 'team.get',
      method: 'GET',
      path: '/team',
      summary: 'Who may act for the account',
      description: 'Its owner and members, and how many seats of the plan are taken.',
      reply: { status: 200, schema: TeamOut },
      async handler({ caller: { accountId } }) {
        const { members, ...seats } = await team.get(accountId);
        return { accountId, ...seats, members: members.map(toMember) };
      },
    }),
    defineRoute({
      ...writes('team:write'),
      onlyMode: 'live',
      operationId: 'team.updateMember',
      method: 'PATCH',
      path: '/team/members/{id}',
      summary: 'Give a member another role',
      description:
        'Their sessions and the keys that they made act within it from the next call on. CONFLICT for the owner.',
      params: MemberId,
      body: RoleIn,
      reply: { status: 200, schema: Member },
      errors: ['CONFLICT', 'MINT_CEILING_EXCEEDED'],
      handler: async ({ caller }, { params, body }) =>
        toMember(await team.setRole(caller, params.id, body.teamRole)),
    }),
    defineRoute({
      ...writes('team:write'),
      onlyMode: 'live',
      operationId: 'team.removeMember',
      method: 'DELETE',
      path: '/team/members/{id}',
      summary: 'Remove a member',
      description:
        'The keys that they made are revoked, and their sessions act for this account no more. CONFLICT for the owner.',
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
      ...writes('team:write'),
      onlyMode: 'live',
      operationId: 'team.invite',
      method: 'POST',
      path,
      summary: 'Invite somebody to the team',
      description:
        'By a mail whose link is good for 7 days; it takes a seat meanwhile. CONFLICT for who is in the team or invited already.',
      limits: INVITATIONS,
      body: InvitationIn,
      reply: { status: 201, schema: Invitation },
      errors: ['CONFLICT', 'MINT_CEILING_EXCEEDED', 'QUOTA_EXCEEDED'],
      handler: async ({ caller }, { body }) => toInvitation(await team.invite(caller, body), clock.ms()),
    }),
    defineRoute({
      ...reads('team:read'),
      operationId: 'team.invitations',
      method: 'GET',
      path,
      summary: 'List the invitations to the team',
      description: 'Those that are over as well, unless `status` says otherwise.',
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
      ...writes('team:write'),
      onlyMode: 'live',
      operationId: 'team.revokeInvitation',
      method: 'DELETE',
      path: `${path}/{id}`,
      summary: 'Take an invitation back',
      description: 'Its seat is free again. CONFLICT when it was accepted.',
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

/** For who is invited, or wants to leave: whatever they may do in the account, if anything. */
function personRoutes({ team, clock }: Deps): Route[] {
  return [
    defineRoute({
      ...keyless,
      operationId: 'team.previewInvitation',
      method: 'POST',
      path: `${path}/preview`,
      summary: 'What an invitation is about',
      description: 'For the page that its link leads to.',
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
      ...signedIn,
      operationId: 'team.acceptInvitation',
      method: 'POST',
      path: `${path}/accept`,
      summary: 'Accept an invitation',
      description:
        'By the session of the address that was invited, which is confirmed by it. CONFLICT when the invitation is good no more, or for another address.',
      body: TokenIn,
      reply: { status: 200, schema: Accepted },
      errors: ['CONFLICT', 'NOT_FOUND', 'QUOTA_EXCEEDED'],
      handler: ({ caller: { actor } }, { body: { token } }) => team.accept(actor.userId, token),
    }),
    defineRoute({
      ...signedIn,
      operationId: 'team.leave',
      method: 'POST',
      path: '/team/leave',
      summary: 'Leave a team',
      description: 'NOT_FOUND for an account that one is no member of; its owner stays.',
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
