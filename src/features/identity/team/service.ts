import { type AppendEvent, type Events, nextSequence } from '../../../events/index.ts';
import { hasPermission, ROLE_PERMISSIONS, type TeamRole } from '../../../kernel/access.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { AppError, notFound, quotaExceeded } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { PLANS } from '../../../kernel/plans.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { getWorkspaceOwner, lockWorkspace, workspaceOf } from '../../../platform/db/workspace.ts';
import { hashSecret } from '../../../platform/tokens.ts';
import type { MailCaps } from '../../integration/mail/index.ts';
import { teamMemberAdded, teamMemberRemoved, teamRoleChanged } from './events.ts';
import {
  createInvitations,
  type Invitations,
  type LoadPermissions,
  type MailOutbox,
  type RegistrationGate,
  type TeamActor,
} from './invitations.service.ts';
import type { AssignableRole, Member, Person } from './repository.ts';
import * as repository from './repository.ts';
import * as rules from './rules.ts';

/** The team of an account (docs/concepts/team.md). An id of another account's is NOT_FOUND. */
export interface Team extends Invitations {
  /** Returns the team, the owner first. */
  get(accountId: string): Promise<{
    seatsUsed: number;
    seatsLimit: number;
    members: (Person & { id: string; teamRole: TeamRole })[];
  }>;
  /** Returns the number of seats in use by the account of a workspace. */
  seatsUsed(workspaceId: string): Promise<number>;
  /**
   * Adds the person to the team and confirms their address, because the token was emailed to it.
   *
   * @param userId the person's own account.
   * @throws {AppError} NOT_FOUND for an unknown token; CONFLICT, field `token`, when it is no longer valid,
   *   or for another address; QUOTA_EXCEEDED when the plan was downgraded.
   */
  accept(
    userId: string,
    token: string,
  ): Promise<{ accountId: string; name: string; teamRole: AssignableRole }>;
  /** @throws {AppError} CONFLICT for the owner; MINT_CEILING_EXCEEDED, PERMISSION_DENIED. */
  setRole(by: TeamActor, id: string, role: AssignableRole): Promise<Member>;
  /**
   * Removes a member and ends their keys and sessions. @throws {AppError} CONFLICT for the owner;
   * PERMISSION_DENIED.
   */
  remove(by: TeamActor, id: string): Promise<void>;
  /** Removes the member at their own request. @throws {AppError} NOT_FOUND for a non-member. */
  leave(userId: string, accountId: string): Promise<void>;
}

export interface Deps {
  db: Db;
  events: Events;
  clock: Clock;
  mailbox: MailOutbox;
  registration: RegistrationGate;
  apiKeys: {
    rightsNow: LoadPermissions;
    /** Revokes the keys that a member created for an account. */
    revokeMadeBy(tx: Tx, append: AppendEvent, accountId: string, userId: string): Promise<void>;
    /** Clears cached keys and sessions on every node. */
    forget(): void;
  };
  mailCaps: Pick<MailCaps, 'from'>;
  /** @returns whether the account has this address. */
  markVerified(tx: Tx, id: string, email: string, at: Date): Promise<boolean>;
  publicUrl: string;
}

/** Member under the lock of the team. */
interface Change {
  tx: Tx;
  append: AppendEvent;
  workspaceId: string;
  member: Member;
}

export function createTeam(deps: Deps): Team {
  const { db, clock, apiKeys } = deps;
  const used = async (accountId: string) => {
    const { members, pending } = await repository.countSeats(db, accountId, clock.now());
    return 1 + members + pending;
  };
  return {
    ...createInvitations(deps),
    async get(accountId) {
      const owner = await repository.findOwner(db, accountId);
      if (owner === undefined) throw notFound();
      const workspaceId = await workspaceOf(db, accountId, 'live');
      const { plan } = await getWorkspaceOwner(db, workspaceId);
      const first = { ...owner, id: rules.ownerMemberId(accountId), teamRole: 'OWNER' } as const;
      return {
        seatsUsed: await used(accountId),
        seatsLimit: PLANS[plan].teamSeats,
        members: [first, ...(await repository.listMembers(db, accountId))],
      };
    },
    seatsUsed: async (workspaceId) => used((await getWorkspaceOwner(db, workspaceId)).accountId),
    async accept(userId, token) {
      const accepted = await accept(deps, userId, token);
      apiKeys.forget();
      return accepted;
    },
    async setRole(by, id, role) {
      const member = await changed(deps, by, id, (change) => setRole(deps, change, by, role));
      apiKeys.forget();
      return { ...member, teamRole: role };
    },
    async remove(by, id) {
      await changed(deps, by, id, async (change) => {
        const { tx, member } = change;
        const rights = await apiKeys.rightsNow(tx, by, member.userId);
        rules.assertMayWrite(rights);
        rules.assertMayChange(rights, member.teamRole);
        await end(deps, change, by.accountId);
      });
      apiKeys.forget();
    },
    async leave(userId, accountId) {
      const id = await repository.findMemberId(db, accountId, userId);
      if (id === undefined) throw notFound();
      await changed(deps, { accountId }, id, (change) => end(deps, change, accountId));
      apiKeys.forget();
    },
  };
}

/** Changes a member under the team lock. */
async function changed(
  { events }: Deps,
  { accountId }: Pick<TeamActor, 'accountId'>,
  id: string,
  work: (change: Change) => Promise<void>,
): Promise<Member> {
  if (id === rules.ownerMemberId(accountId)) {
    const message = 'The account owner cannot be removed or given another role.';
    throw new AppError('CONFLICT', { message });
  }
  return events.transaction(async (tx, append) => {
    const workspaceId = await workspaceOf(tx, accountId, 'live');
    await lockWorkspace(tx, workspaceId);
    const member = await repository.lockMember(tx, accountId, id);
    if (member === undefined) throw notFound();
    await work({ tx, append, workspaceId, member });
    return member;
  });
}

async function setRole(deps: Deps, change: Change, by: TeamActor, role: AssignableRole): Promise<void> {
  const { tx, append, workspaceId, member } = change;
  const rights = await deps.apiKeys.rightsNow(tx, by);
  rules.assertMayWrite(rights);
  rules.assertCanAssign(rights, role);
  rules.assertMayChange(rights, member.teamRole);
  if (member.teamRole === role) return;
  await repository.updateRole(tx, member.id, role);
  if (!hasPermission(ROLE_PERMISSIONS[role], 'team:write'))
    await takeBack(deps, tx, by.accountId, member.userId);
  await append(teamRoleChanged, workspaceId, await memberEventData(tx, { ...member, teamRole: role }));
}

/**
 * Removes a member with the keys and invitations by which they could still act for the account or admit
 * others.
 */
async function end(deps: Deps, change: Change, accountId: string): Promise<void> {
  const { tx, append, workspaceId, member } = change;
  await deps.apiKeys.revokeMadeBy(tx, append, accountId, member.userId);
  await takeBack(deps, tx, accountId, member.userId);
  await append(teamMemberRemoved, workspaceId, await memberEventData(tx, member));
  await repository.deleteMember(tx, member.id);
}

/** Revokes the invitations of a person who may no longer invite. */
async function takeBack({ registration }: Deps, tx: Tx, accountId: string, userId: string): Promise<void> {
  for (const hash of await repository.revokeInvitationsOf(tx, accountId, userId)) {
    await registration.disallow(tx, hash);
  }
}

async function memberEventData(tx: Tx, { id, userId, teamRole }: Pick<Member, 'id' | 'userId' | 'teamRole'>) {
  return { memberId: id, userId, teamRole, sequence: await nextSequence(tx, 'team_member', id) };
}

async function accept(deps: Deps, userId: string, token: string) {
  const { db, events, clock } = deps;
  const found = await repository.findByHash(db, hashSecret(token));
  if (found === undefined) throw notFound();
  const { account_id: accountId, name, username } = found;
  return events.transaction(async (tx, append) => {
    const now = clock.now();
    const workspaceId = await workspaceOf(tx, accountId, 'live');
    const { plan } = await lockWorkspace(tx, workspaceId);
    const invitation = await repository.lockInvitation(tx, accountId, found.id);
    if (invitation === undefined) throw notFound();
    rules.assertPending(invitation, now.getTime());
    if (!(await deps.markVerified(tx, userId, invitation.email, now))) {
      const message = 'The invitation is for another email address. Sign in with that address.';
      throw new AppError('CONFLICT', { field: 'token', message });
    }
    if (userId === accountId || (await repository.findMemberId(tx, accountId, userId)) !== undefined) {
      throw new AppError('CONFLICT', { field: 'token', message: 'You are already a member of this team.' });
    }
    const { members } = await repository.countSeats(tx, accountId, now);
    if (1 + members + 1 > PLANS[plan].teamSeats) {
      const message = `Limit of ${PLANS[plan].teamSeats} team seats reached for the account's plan.`;
      throw quotaExceeded({ workspaceId, resource: 'TEAM_SEATS' }, message);
    }
    const { team_role: teamRole } = invitation;
    const member = { id: newId('mem'), account_id: accountId, user_id: userId, team_role: teamRole };
    await repository.insertMember(tx, { ...member, joined_at: now });
    await repository.setStatus(tx, invitation.id, 'ACCEPTED');
    await append(
      teamMemberAdded,
      workspaceId,
      await memberEventData(tx, { id: member.id, userId, teamRole }),
    );
    return { accountId, name: name ?? username, teamRole };
  });
}
