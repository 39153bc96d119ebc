import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { pageCondition } from '../../../platform/db/page.ts';
import type { DiscountCodeTable } from '../../../platform/db/tables.generated.ts';

export type DiscountCodeRow = Selectable<DiscountCodeTable>;
export type DiscountCodeChange = Omit<
  Updateable<DiscountCodeTable>,
  'id' | 'workspace_id' | 'event_sequence' | 'used_count' | 'reserved_count'
>;

/** Inserts a code; returns undefined when the workspace has it already. */
export function insertCode(tx: Tx, row: Insertable<DiscountCodeTable>): Promise<DiscountCodeRow | undefined> {
  return tx
    .insertInto('discount_code')
    .values(row)
    .onConflict((conflict) => conflict.columns(['workspace_id', 'code']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

export function listCodes(db: Db, workspaceId: string, page: PageRequest): Promise<DiscountCodeRow[]> {
  return select(db, workspaceId)
    .where(pageCondition(page, 'id', 'created_at', 'dsc'))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

export function findByText(db: Db, workspaceId: string, code: string): Promise<DiscountCodeRow | undefined> {
  return select(db, workspaceId).where('code', '=', code).executeTakeFirst();
}

export function lockCode(tx: Tx, workspaceId: string, id: string): Promise<DiscountCodeRow | undefined> {
  // FOR UPDATE: changing the text of a code waits for transactions that hold it, and must not block their
  // later steps.
  return select(tx, workspaceId).where('id', '=', id).forUpdate().executeTakeFirst();
}

/**
 * Locks a code for rows that refer to it: it is not deleted before the transaction ends.
 *
 * @param when `now` does not wait, and treats a code that is being changed or deleted as missing.
 * @returns whether there is such a code.
 */
export async function lockCodeKeyShare(
  tx: Tx,
  id: string,
  when: 'now' | 'whenFree' = 'whenFree',
): Promise<boolean> {
  const row = await tx
    .selectFrom('discount_code')
    .select('id')
    .where('id', '=', id)
    .forKeyShare()
    .$if(when === 'now', (query) => query.skipLocked())
    .executeTakeFirst();
  return row !== undefined;
}

export function updateCode(tx: Tx, id: string, change: DiscountCodeChange): Promise<DiscountCodeRow> {
  return tx
    .updateTable('discount_code')
    .set(change)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** @returns whether there was such a code. */
export async function deleteCode(tx: Tx, workspaceId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('discount_code')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * Reserves one use for a buyer who pays.
 *
 * @returns false when none is left, or the code is no longer valid.
 */
export async function reserveUse(tx: Tx, id: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('discount_code')
    .set({ reserved_count: sql`reserved_count + 1` })
    .where('id', '=', id)
    .where('is_active', '=', true)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .where(sql<boolean>`(max_uses is null or used_count + reserved_count < max_uses)`)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Adjusts the use counts; returns undefined when the code was deleted in the interim. */
export function adjustUseCounts(
  tx: Tx,
  id: string,
  by: { claimed: number; used: number },
): Promise<DiscountCodeRow | undefined> {
  return tx
    .updateTable('discount_code')
    .set({
      reserved_count: sql`reserved_count + ${by.claimed}`,
      used_count: sql`used_count + ${by.used}`,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** Claims expired codes of any workspace whose expiry event is due, and marks them as notified. */
export function claimExpired(tx: Tx, now: Date, limit: number): Promise<DiscountCodeRow[]> {
  return tx
    .updateTable('discount_code')
    .set({ expiry_notified_at: now })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('discount_code')
        .select('id')
        .where('expires_at', '<=', now)
        .where('expiry_notified_at', 'is', null)
        .orderBy('expires_at')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returningAll()
    .execute();
}

function select(db: Db, workspaceId: string) {
  return db.selectFrom('discount_code').selectAll().where('workspace_id', '=', workspaceId);
}
