import type { Insertable, Selectable } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { pageCondition } from '../../../platform/db/page.ts';
import type { UserSessionTable } from '../../../platform/db/tables.generated.ts';

export type SessionRow = Selectable<UserSessionTable>;

export async function insertSession(tx: Tx, row: Insertable<UserSessionTable>): Promise<void> {
  await tx.insertInto('user_session').values(row).execute();
}

/** Deletes all but the newest sessions of an account. */
export async function deleteOldestSessions(tx: Tx, accountId: string, keep: number): Promise<void> {
  const surplus = tx
    .selectFrom('user_session')
    .select('id')
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .offset(keep);
  await tx.deleteFrom('user_session').where('id', 'in', surplus).execute();
}

/** Finds a session with the data that decides its validity and rights. */
export function findByHash(db: Db, hash: Uint8Array) {
  return db
    .selectFrom('user_session')
    .innerJoin('account', 'account.id', 'user_session.account_id')
    .innerJoin('workspace as live', (join) =>
      join.onRef('live.account_id', '=', 'account.id').on('live.mode', '=', 'live'),
    )
    .innerJoin('workspace as test', (join) =>
      join.onRef('test.account_id', '=', 'account.id').on('test.mode', '=', 'test'),
    )
    .leftJoin('team_activity as activity', (join) =>
      join.onRef('activity.account_id', '=', 'account.id').onRef('activity.user_id', '=', 'account.id'),
    )
    .selectAll('user_session')
    .select([
      'account.role',
      'account.plan',
      'account.email_verified_at',
      'account.suspended_at',
      'account.token_epoch as account_epoch',
      'live.id as live_id',
      'test.id as test_id',
      'activity.last_active_at',
    ])
    .where('user_session.hash', '=', hash)
    .executeTakeFirst();
}

/** Lists the teams of a person in accounts that are not suspended, with the last activity in each. */
export function listTeams(db: Db, userId: string) {
  return db
    .selectFrom('team_member')
    .innerJoin('account', 'account.id', 'team_member.account_id')
    .innerJoin('workspace as live', (join) =>
      join.onRef('live.account_id', '=', 'account.id').on('live.mode', '=', 'live'),
    )
    .innerJoin('workspace as test', (join) =>
      join.onRef('test.account_id', '=', 'account.id').on('test.mode', '=', 'test'),
    )
    .leftJoin('team_activity as activity', (join) =>
      join
        .onRef('activity.account_id', '=', 'team_member.account_id')
        .onRef('activity.user_id', '=', 'team_member.user_id'),
    )
    .select([
      'team_member.account_id',
      'team_member.team_role',
      'account.name',
      'account.username',
      'account.plan',
      'live.id as live_id',
      'test.id as test_id',
      'activity.last_active_at',
    ])
    .where('team_member.user_id', '=', userId)
    .where('account.suspended_at', 'is', null)
    .orderBy('team_member.id')
    .execute();
}

export type TeamRow = Awaited<ReturnType<typeof listTeams>>[number];

/** Updates the activity unless it is newer than `ifBefore`. */
export async function touchTeamActivity(
  db: Db,
  who: { accountId: string; userId: string },
  at: Date,
  ifBefore: Date,
): Promise<void> {
  await db
    .insertInto('team_activity')
    .values({ account_id: who.accountId, user_id: who.userId, last_active_at: at })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'user_id'])
        .doUpdateSet({ last_active_at: at })
        .where('team_activity.last_active_at', '<=', ifBefore),
    )
    .execute();
}

export type GrantRow = NonNullable<Awaited<ReturnType<typeof findByHash>>>;

export function findSession(db: Db, accountId: string, id: string): Promise<SessionRow | undefined> {
  return db
    .selectFrom('user_session')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Lists sessions that were used since the given time. */
export function listSessions(
  db: Db,
  accountId: string,
  alive: SessionExpiry,
  page: PageRequest,
): Promise<SessionRow[]> {
  return db
    .selectFrom('user_session')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('last_seen_at', '>', alive.seenAfter)
    .where('created_at', '>', alive.createdAfter)
    .where(pageCondition(page))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

/** Limits of a valid session: older ones have expired. */
export interface SessionExpiry {
  seenAfter: Date;
  createdAfter: Date;
}

/** Updates the last use; the first of several concurrent requests writes it. */
export async function touchSession(
  db: Db,
  id: string,
  use: { at: Date; ip: string; userAgent: string },
  ifSeenBefore: Date,
): Promise<void> {
  await db
    .updateTable('user_session')
    .set({ last_seen_at: use.at, ip: use.ip, user_agent: use.userAgent })
    .where('id', '=', id)
    .where('last_seen_at', '<=', ifSeenBefore)
    .execute();
}

export async function setPasswordChecked(db: Db, id: string, at: Date): Promise<void> {
  await db.updateTable('user_session').set({ password_checked_at: at }).where('id', '=', id).execute();
}

/** Keeps the session valid after a password change that it made. */
export async function renewSession(tx: Tx, id: string, at: Date): Promise<void> {
  await tx
    .updateTable('user_session')
    .set((eb) => ({
      password_checked_at: at,
      token_epoch: eb
        .selectFrom('account')
        .select('account.token_epoch')
        .whereRef('account.id', '=', 'user_session.account_id')
        .$asScalar(),
    }))
    .where('id', '=', id)
    .execute();
}

/** @returns whether it existed. */
export async function deleteSession(db: Db, accountId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('user_session')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** @param keep ID to retain, if any. */
export async function deleteSessionsOf(tx: Tx, accountId: string, keep: string | null): Promise<void> {
  let query = tx.deleteFrom('user_session').where('account_id', '=', accountId);
  if (keep !== null) query = query.where('id', '!=', keep);
  await query.execute();
}

export async function deleteExpiredSessions(
  db: Db,
  { seenAfter, createdAfter }: SessionExpiry,
): Promise<void> {
  await db
    .deleteFrom('user_session')
    .where((eb) => eb.or([eb('last_seen_at', '<=', seenAfter), eb('created_at', '<=', createdAfter)]))
    .execute();
}
