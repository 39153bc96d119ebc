import type { Mode } from '../../../kernel/access.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Creator } from './ports.ts';
import type { AvailableSlot } from './rules.ts';

/** Finds the owner of a username; suspended accounts are excluded. */
export async function findCreator(db: Db, username: string, mode: Mode): Promise<Creator | undefined> {
  const row = await select(db)
    .where('account.username', '=', username)
    .where('workspace.mode', '=', mode)
    .executeTakeFirst();
  return row && { ...row, name: row.name ?? row.username };
}

/** Returns the owner of a booking, including suspended accounts: their customers can still cancel. */
export async function creatorOf(db: Db, workspaceId: string): Promise<Creator & { isSuspended: boolean }> {
  const {
    name,
    suspended_at: suspendedAt,
    ...row
  } = await selectAny(db)
    .select('account.suspended_at')
    .where('workspace.id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  return { ...row, name: name ?? row.username, isSuspended: suspendedAt !== null };
}

/** Lists the times of a class without free seats in [from, to). */
export async function fullClasses(
  db: Db,
  productId: string,
  { from, to }: { from: Date; to: Date },
): Promise<AvailableSlot[]> {
  const rows = await db
    .selectFrom('class_occurrence')
    .select(['starts_at as startsAt', 'ends_at as endsAt'])
    .where('product_id', '=', productId)
    .where('starts_at', '>=', from)
    .where('starts_at', '<', to)
    .where((eb) => eb(eb('booked_count', '+', eb.ref('reserved_count')), '>=', eb.ref('capacity')))
    .orderBy('starts_at')
    .execute();
  return rows.map((row) => ({ ...row, seatsLeft: 0 }));
}

function select(db: Db) {
  return selectAny(db).where('account.suspended_at', 'is', null);
}

function selectAny(db: Db) {
  return db
    .selectFrom('workspace')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .select(['account.id as accountId', 'workspace.id as workspaceId', 'workspace.mode'])
    .select(['account.username', 'account.name']);
}
