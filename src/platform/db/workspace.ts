import { type RawBuilder, sql } from 'kysely';
import type { Mode } from '../../kernel/access.ts';
import type { Plan } from '../../kernel/plans.ts';
import type { Db, Tx } from './index.ts';

/** Account that owns a workspace, and the properties that determine its limits. */
export interface WorkspaceOwner {
  accountId: string;
  plan: Plan;
  mode: Mode;
  /** Bytes used or reserved by its videos. */
  storageBytes: number;
}

export function getWorkspaceOwner(db: Db, workspaceId: string): Promise<WorkspaceOwner> {
  return db
    .selectFrom('workspace')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .select([
      'account.id as accountId',
      'account.plan',
      'workspace.mode',
      'workspace.storage_bytes as storageBytes',
    ])
    .where('workspace.id', '=', workspaceId)
    .executeTakeFirstOrThrow();
}

/**
 * Locks the workspace's row, so that two creations cannot both use the last unit of a quota, and returns the
 * owner. A transaction that locks more than the workspace locks the workspace first.
 */
export async function lockWorkspace(tx: Tx, workspaceId: string): Promise<WorkspaceOwner> {
  // Not FOR UPDATE: that would block every concurrent insert that refers to the workspace.
  await tx.selectFrom('workspace').select('id').where('id', '=', workspaceId).forNoKeyUpdate().execute();
  // By itself: a statement that has waited for the lock would read the account as it was before.
  return getWorkspaceOwner(tx, workspaceId);
}

/**
 * Locks the workspace's row against account closure: a closure waits for the sale in this transaction, or
 * precedes it.
 */
export async function lockWorkspaceKeyShare(tx: Tx, workspaceId: string): Promise<void> {
  await tx.selectFrom('workspace').select('id').where('id', '=', workspaceId).forKeyShare().execute();
}

/** Waits for whatever is just being sold there, and holds up what would be: each such row refers to the workspace. */
export async function lockWorkspaces(tx: Tx, accountId: string): Promise<void> {
  await tx
    .selectFrom('workspace')
    .select('id')
    .where('account_id', '=', accountId)
    .orderBy('id')
    .forUpdate()
    .execute();
}

/**
 * A condition: the account of this workspace is not suspended.
 *
 * @param column the workspace's id, such as `video.workspace_id`.
 */
export function isAccountActive(column: string): RawBuilder<boolean> {
  return sql<boolean>`not exists (
    select from workspace standing join account holder on holder.id = standing.account_id
    where standing.id = ${sql.ref(column)} and holder.suspended_at is not null)`;
}

export async function isSuspended(db: Db, workspaceId: string): Promise<boolean> {
  const row = await db
    .selectFrom('workspace')
    .select('workspace.id')
    .where('workspace.id', '=', workspaceId)
    .where(isAccountActive('workspace.id'))
    .executeTakeFirst();
  return row === undefined;
}

/** The zone of the account that owns a workspace. */
export async function timezoneOf(db: Db, workspaceId: string): Promise<string> {
  const { timezone } = await db
    .selectFrom('workspace')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .select('account.timezone')
    .where('workspace.id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  return timezone;
}

/** The id of an account's workspace of this mode. */
export async function workspaceOf(db: Db, accountId: string, mode: Mode): Promise<string> {
  const { id } = await db
    .selectFrom('workspace')
    .select('id')
    .where('account_id', '=', accountId)
    .where('mode', '=', mode)
    .executeTakeFirstOrThrow();
  return id;
}

/** Live workspaces by the order of their ids after this one, of accounts that are no younger than the time. */
export async function listLiveWorkspaces(
  db: Db,
  after: string,
  until: Date,
  most: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('workspace')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .select('workspace.id')
    .where('workspace.mode', '=', 'live')
    .where('account.created_at', '<=', until)
    .where('workspace.id', '>', after)
    .orderBy('workspace.id')
    .limit(most)
    .execute();
  return rows.map(({ id }) => id);
}

export async function insertWorkspace(tx: Tx, id: string, accountId: string, mode: Mode): Promise<void> {
  await tx.insertInto('workspace').values({ id, account_id: accountId, mode }).execute();
}

/** Stores the storage usage; the caller holds the lock of the workspace. */
export async function setStorage(tx: Tx, workspaceId: string, storageBytes: number): Promise<void> {
  await tx
    .updateTable('workspace')
    .set({ storage_bytes: storageBytes })
    .where('id', '=', workspaceId)
    .execute();
}

/** Workspaces that store something, by the order of their ids after this one. */
export function listWorkspacesWithStorage(
  db: Db,
  after: string,
  most: number,
): Promise<{ id: string; storageBytes: number }[]> {
  return db
    .selectFrom('workspace')
    .select(['id', 'storage_bytes as storageBytes'])
    .where('storage_bytes', '>', 0)
    .where('id', '>', after)
    .orderBy('id')
    .limit(most)
    .execute();
}
