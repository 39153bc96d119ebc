import { type Insertable, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { pageCondition } from '../../../platform/db/page.ts';
import type { TeamInvitationTable, TeamMemberTable } from '../../../platform/db/tables.generated.ts';

export type InvitationRow = Selectable<TeamInvitationTable>;
export type AssignableRole = Selectable<TeamMemberTable>['team_role'];

/** Person who can act for an account, as shown to its team. */
export interface Person {
  userId: string;
  email: string;
  name: string | null;
  suspendedAt: Date | null;
  joinedAt: Date;
  lastActiveAt: Date | null;
}

/** Finds the owner of the account. */
export function findOwner(db: Db, accountId: string) {
  return db
    .selectFrom('account')
    .leftJoin('team_activity as activity', (join) =>
      join.onRef('activity.account_id', '=', 'account.id').onRef('activity.user_id', '=', 'account.id'),
    )
    .select([
      'account.id as userId',
      'account.email',
      'account.name',
      'account.username',
      'account.suspended_at as suspendedAt',
      'account.created_at as joinedAt',
      'activity.last_active_at as lastActiveAt',
    ])
    .where('account.id', '=', accountId)
    .executeTakeFirst();
}

function selectMembers(db: Db, accountId: string) {
  return db
    .selectFrom('team_member')
    .innerJoin('account', 'account.id', 'team_member.user_id')
    .leftJoin('team_activity as activity', (join) =>
      join
        .onRef('activity.account_id', '=', 'team_member.account_id')
        .onRef('activity.user_id', '=', 'team_member.user_id'),
    )
    .select([
      'team_member.id',
      'team_member.user_id as userId',
      'team_member.team_role as teamRole',
      'team_member.joined_at as joinedAt',
      'account.email',
      'account.name',
      'account.suspended_at as suspendedAt',
      'activity.last_active_at as lastActiveAt',
    ])
    .where('team_member.account_id', '=', accountId);
}

export type Member = Person & { id: string; teamRole: AssignableRole };

/** Ordered by the time of joining. */
export function listMembers(db: Db, accountId: string): Promise<Member[]> {
  return selectMembers(db, accountId).orderBy('team_member.id').execute();
}

/**
 * Locks the member. Take this lock before those of their keys, as creating or rotating a key locks the role
 * first.
 */
export function lockMember(tx: Tx, accountId: string, id: string): Promise<Member | undefined> {
  return selectMembers(tx, accountId)
    .where('team_member.id', '=', id)
    .forUpdate('team_member')
    .executeTakeFirst();
}

/** Finds a membership by the person's own account. */
export async function findMemberId(db: Db, accountId: string, userId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('team_member')
    .select('id')
    .where('account_id', '=', accountId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.id;
}

export async function insertMember(tx: Tx, row: Insertable<TeamMemberTable>): Promise<void> {
  await tx.insertInto('team_member').values(row).execute();
}

export async function updateRole(tx: Tx, id: string, role: AssignableRole): Promise<void> {
  await tx.updateTable('team_member').set({ team_role: role }).where('id', '=', id).execute();
}

export async function deleteMember(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('team_member').where('id', '=', id).execute();
}

const pendingAt = (now: Date): RawBuilder<SqlBool> => sql`(status = 'PENDING' and expires_at > ${now})`;

/** Counts members, without the owner, and pending invitations. */
export async function countSeats(
  db: Db,
  accountId: string,
  now: Date,
): Promise<{ members: number; pending: number }> {
  const row = await db
    .selectNoFrom((eb) => [
      eb
        .selectFrom('team_member')
        .select((of) => of.fn.countAll<number>().as('count'))
        .where('account_id', '=', accountId)
        .as('members'),
      eb
        .selectFrom('team_invitation')
        .select((of) => of.fn.countAll<number>().as('count'))
        .where('account_id', '=', accountId)
        .where(pendingAt(now))
        .as('pending'),
    ])
    .executeTakeFirstOrThrow();
  return { members: row.members ?? 0, pending: row.pending ?? 0 };
}

export function insertInvitation(tx: Tx, row: Insertable<TeamInvitationTable>): Promise<InvitationRow> {
  return tx.insertInto('team_invitation').values(row).returningAll().executeTakeFirstOrThrow();
}

/** Finds an invitation with the name of the inviting account; suspended accounts are excluded. */
export function findByHash(db: Db, hash: Uint8Array) {
  return db
    .selectFrom('team_invitation')
    .innerJoin('account', 'account.id', 'team_invitation.account_id')
    .selectAll('team_invitation')
    .select(['account.name', 'account.username'])
    .where('team_invitation.hash', '=', hash)
    .where('account.suspended_at', 'is', null)
    .executeTakeFirst();
}

export function lockInvitation(tx: Tx, accountId: string, id: string): Promise<InvitationRow | undefined> {
  return tx
    .selectFrom('team_invitation')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

export async function isInvited(tx: Tx, accountId: string, email: string): Promise<boolean> {
  const row = await tx
    .selectFrom('team_invitation')
    .select('id')
    .where('account_id', '=', accountId)
    .where('email', '=', email)
    .where('status', '=', 'PENDING')
    .executeTakeFirst();
  return row !== undefined;
}

export async function expireInvitations(tx: Tx, accountId: string, now: Date): Promise<void> {
  await tx
    .updateTable('team_invitation')
    .set({ status: 'EXPIRED' })
    .where('account_id', '=', accountId)
    .where('status', '=', 'PENDING')
    .where('expires_at', '<=', now)
    .execute();
}

export async function setStatus(tx: Tx, id: string, status: InvitationRow['status']): Promise<void> {
  await tx.updateTable('team_invitation').set({ status }).where('id', '=', id).execute();
}

/** Revokes the pending invitations of a member. @returns the hashes of their tokens. */
export async function revokeInvitationsOf(tx: Tx, accountId: string, userId: string): Promise<Uint8Array[]> {
  const rows = await tx
    .updateTable('team_invitation')
    .set({ status: 'REVOKED' })
    .where('account_id', '=', accountId)
    .where('invited_by', '=', userId)
    .where('status', '=', 'PENDING')
    .returning('hash')
    .execute();
  return rows.map(({ hash }) => hash);
}

export function listInvitations(
  db: Db,
  accountId: string,
  filter: { status: readonly InvitationRow['status'][] | undefined; now: Date },
  page: PageRequest,
): Promise<InvitationRow[]> {
  const { status, now } = filter;
  const shown = sql<InvitationRow['status']>`case when status = 'PENDING' and expires_at <= ${now}
    then 'EXPIRED' else status end`;
  let query = db.selectFrom('team_invitation').selectAll().where('account_id', '=', accountId);
  if (status !== undefined) query = query.where(shown, 'in', status);
  return query.where(pageCondition(page)).orderBy('id', page.order).limit(page.fetchLimit).execute();
}
