import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Db } from '../../../platform/db/index.ts';
import type { ConnectAccountTable } from '../../../platform/db/tables.generated.ts';

export type AccountRow = Selectable<ConnectAccountTable>;

export function findAccount(db: Db, workspaceId: string): Promise<AccountRow | undefined> {
  return db
    .selectFrom('connect_account')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
}

export function findAccountByRef(
  db: Db,
  provider: AccountRow['provider'],
  ref: string,
): Promise<AccountRow | undefined> {
  return db
    .selectFrom('connect_account')
    .selectAll()
    .where('provider', '=', provider)
    .where('provider_ref', '=', ref)
    .executeTakeFirst();
}

/** Lists accounts at providers with automatic payouts that were not checked since then, longest ago first. */
export function listUnseen(db: Db, since: Date, limit: number): Promise<AccountRow[]> {
  return db
    .selectFrom('connect_account')
    .selectAll()
    .where('provider', '<>', 'SANDBOX')
    .where((eb) => eb.or([eb('payouts_synced_at', 'is', null), eb('payouts_synced_at', '<=', since)]))
    .orderBy('payouts_synced_at', (order) => order.asc().nullsFirst())
    .limit(limit)
    .execute();
}

/**
 * Inserts the workspace's account, replacing one of another provider.
 *
 * @returns the account, which a concurrent request may have created first.
 */
export function upsertAccount(db: Db, row: Insertable<ConnectAccountTable>): Promise<AccountRow> {
  return db
    .insertInto('connect_account')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('workspace_id').doUpdateSet((eb) => ({
        provider: eb.ref('excluded.provider'),
        provider_ref: eb.ref('excluded.provider_ref'),
        checked_at: eb.ref('excluded.checked_at'),
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function updateAccount(
  db: Db,
  workspaceId: string,
  change: Updateable<ConnectAccountTable>,
): Promise<void> {
  await db.updateTable('connect_account').set(change).where('workspace_id', '=', workspaceId).execute();
}
