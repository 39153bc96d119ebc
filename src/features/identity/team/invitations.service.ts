import type { Authority, Caller } from '../../../kernel/access.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { parseEmail } from '../../../kernel/email.ts';
import { AppError, badRequest, notFound, quotaExceeded } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import { PLANS } from '../../../kernel/plans.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { lockWorkspace, workspaceOf } from '../../../platform/db/workspace.ts';
import { hashSecret, newSecret } from '../../../platform/tokens.ts';
import type { MailCaps } from '../../integration/mail/index.ts';
import { invitationEmail } from './emails.ts';
import type { InvitationRow } from './repository.ts';
import * as repository from './repository.ts';
import * as rules from './rules.ts';
import type { InvitationIn } from './schemas.ts';

/** Actor of a team change. */
export type TeamActor = Pick<Caller, 'accountId' | 'workspaceId' | 'actor' | 'mode'>;

/** Invitation as shown to its recipient. */
export interface InvitationPreview {
  accountName: string;
  invitation: InvitationRow;
}

/** Invitations to a team. An ID of another account is NOT_FOUND. */
export interface Invitations {
  /**
   * Emails an invitation link, which is valid for 7 days and lets an address without an account register. The
   * response does not reveal whether there is one.
   *
   * @throws {AppError} BAD_REQUEST, field `email`; CONFLICT, field `email`, for a member or an invited
   *   address; MINT_CEILING_EXCEEDED, PERMISSION_DENIED; QUOTA_EXCEEDED when all seats are taken;
   *   RATE_LIMITED.
   */
  invite(by: TeamActor, input: InvitationIn): Promise<InvitationRow>;
  invitations(
    accountId: string,
    filter: { status: readonly InvitationRow['status'][] | undefined },
    page: PageRequest,
  ): Promise<InvitationRow[]>;
  /**
   * Revokes an invitation. Idempotent. @throws {AppError} CONFLICT when it was accepted; PERMISSION_DENIED.
   */
  revoke(by: TeamActor, id: string): Promise<void>;
  /** Returns the invitation of a link. @throws {AppError} NOT_FOUND. */
  preview(token: string): Promise<InvitationPreview>;
}

/** Outbox for emails. */
export interface MailOutbox {
  enqueue(tx: Tx, mail: { kind: string; to: string; subject: string; text: string }): Promise<void>;
}

/** Registration permits of invited addresses. */
export interface RegistrationGate {
  allow(tx: Tx, invitation: { hash: Buffer; email: string; expiresAt: Date }): Promise<void>;
  disallow(tx: Tx, hash: Uint8Array): Promise<void>;
}

/** Signature of `ApiKeys.rightsNow`. */
export type LoadPermissions = (tx: Tx, by: TeamActor, beside?: string) => Promise<Authority>;

interface Deps {
  db: Db;
  clock: Clock;
  mailbox: MailOutbox;
  mailCaps: Pick<MailCaps, 'from'>;
  registration: RegistrationGate;
  apiKeys: { rightsNow: LoadPermissions };
  publicUrl: string;
}

export function createInvitations(deps: Deps): Invitations {
  const { db, clock, registration } = deps;
  return {
    async invite(by, { email: given, teamRole }) {
      const email = parseEmail(given);
      if (email === null) throw badRequest('email', 'Enter a valid email address.');
      return db.transaction().execute((tx) => invite(deps, tx, by, { email, teamRole }));
    },
    invitations: (accountId, filter, page) =>
      repository.listInvitations(db, accountId, { ...filter, now: clock.now() }, page),
    revoke: (by, id) =>
      db.transaction().execute(async (tx) => {
        await lockWorkspace(tx, await workspaceOf(tx, by.accountId, 'live'));
        rules.assertMayWrite(await deps.apiKeys.rightsNow(tx, by));
        const row = await repository.lockInvitation(tx, by.accountId, id);
        if (row === undefined) throw notFound();
        if (row.status === 'ACCEPTED') {
          const message = 'The invitation was accepted: remove the member instead.';
          throw new AppError('CONFLICT', { message });
        }
        if (rules.statusAt(row, clock.ms()) !== 'PENDING') return;
        await repository.setStatus(tx, id, 'REVOKED');
        await registration.disallow(tx, row.hash);
      }),
    async preview(token) {
      const found = await repository.findByHash(db, hashSecret(token));
      if (found === undefined) throw notFound();
      const { name, username, ...invitation } = found;
      return { accountName: name ?? username, invitation };
    },
  };
}

async function invite(
  { clock, mailbox, mailCaps, registration, apiKeys, publicUrl }: Deps,
  tx: Tx,
  by: TeamActor,
  { email, teamRole }: InvitationIn,
): Promise<InvitationRow> {
  const { accountId, actor } = by;
  const workspaceId = await workspaceOf(tx, accountId, 'live');
  const { plan } = await lockWorkspace(tx, workspaceId);
  // Read under the lock: a removal revokes the member's invitations, and none may follow it.
  const rights = await apiKeys.rightsNow(tx, by);
  rules.assertMayWrite(rights);
  rules.assertCanAssign(rights, teamRole);
  const now = clock.now();
  await repository.expireInvitations(tx, accountId, now);
  const owner = await repository.findOwner(tx, accountId);
  if (owner === undefined) throw notFound();
  await assertNew(tx, owner, email);
  const limit = PLANS[plan].teamSeats;
  const { members, pending } = await repository.countSeats(tx, accountId, now);
  if (1 + members + pending >= limit) {
    const message = `Limit of ${limit} team seats reached for this plan, including the owner and pending invitations.`;
    throw quotaExceeded({ workspaceId, resource: 'TEAM_SEATS' }, message);
  }
  await mailCaps.from({ actorId: accountId })(email);
  const token = newSecret();
  const hash = hashSecret(token);
  const expiresAt = dateFromMs(now.getTime() + rules.INVITATION_MS);
  const row = await repository.insertInvitation(tx, {
    id: newId('inv'),
    account_id: accountId,
    email,
    team_role: teamRole,
    hash,
    status: 'PENDING',
    invited_by: actor.userId,
    created_at: now,
    expires_at: expiresAt,
  });
  await registration.allow(tx, { hash, email, expiresAt });
  const link = `${publicUrl}/dashboard/invitations/${token}`;
  const accountName = owner.name ?? owner.username;
  await mailbox.enqueue(tx, invitationEmail({ email, teamRole, accountName, link }));
  return row;
}

/** @throws {AppError} CONFLICT, field `email`. */
async function assertNew(tx: Tx, owner: { userId: string; email: string }, email: string): Promise<void> {
  const members = await repository.listMembers(tx, owner.userId);
  if (email === owner.email || members.some((member) => member.email === email)) {
    throw new AppError('CONFLICT', { field: 'email', message: `${email} is already a team member.` });
  }
  if (await repository.isInvited(tx, owner.userId, email)) {
    const message = `${email} is already invited. Revoke that invitation before sending another one.`;
    throw new AppError('CONFLICT', { field: 'email', message });
  }
}
