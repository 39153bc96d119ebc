import type { Insertable, Updateable } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { CheckoutTable } from '../../platform/db/tables.generated.ts';
import type { CheckoutRow } from './rules.ts';

export type NewCheckout = Insertable<CheckoutTable>;
export type CheckoutChange = Omit<Updateable<CheckoutTable>, 'id' | 'workspace_id' | 'event_sequence'>;

/** Undefined when the operation has made one already. */
export function insertCheckout(tx: Tx, row: NewCheckout): Promise<CheckoutRow | undefined> {
  return tx
    .insertInto('checkout')
    .values(row)
    .onConflict((conflict) => conflict.column('operation_id').doNothing())
    .returningAll()
    .executeTakeFirst();
}

export function findByOperation(db: Db, operationId: string): Promise<CheckoutRow | undefined> {
  return db.selectFrom('checkout').selectAll().where('operation_id', '=', operationId).executeTakeFirst();
}

export function findCheckout(db: Db, workspaceId: string, id: string): Promise<CheckoutRow | undefined> {
  return db
    .selectFrom('checkout')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** For whoever has the address of its page. */
export function findOpenly(db: Db, id: string): Promise<CheckoutRow | undefined> {
  return db.selectFrom('checkout').selectAll().where('id', '=', id).executeTakeFirst();
}

/** The code that takes something off it, before it is locked. */
export async function findCodeId(db: Db, id: string): Promise<string | null> {
  const row = await db
    .selectFrom('checkout')
    .select('discount_code_id')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.discount_code_id ?? null;
}

/** After its code: see `outcomes.ts`. */
export function lockCheckout(tx: Tx, id: string): Promise<CheckoutRow | undefined> {
  return tx.selectFrom('checkout').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

export function updateCheckout(tx: Tx, id: string, change: CheckoutChange): Promise<CheckoutRow> {
  return tx.updateTable('checkout').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
}

/** Whose claims are over: their buyers did not come back. */
export function listOverdue(db: Db, now: Date, limit: number): Promise<CheckoutRow[]> {
  return db
    .selectFrom('checkout')
    .selectAll()
    .where('claimed_until', '<=', now)
    .orderBy('claimed_until')
    .limit(limit)
    .execute();
}

/** Open ones whose time is over, and for which nobody pays just now. */
export function listOver(db: Db, now: Date, limit: number): Promise<CheckoutRow[]> {
  return db
    .selectFrom('checkout')
    .selectAll()
    .where('status', '=', 'OPEN')
    .where('expires_at', '<=', now)
    .where('claimed_until', 'is', null)
    .orderBy('expires_at')
    .limit(limit)
    .execute();
}

/** Whose the workspace is, as buyers see it. */
export function findSeller(db: Db, workspaceId: string) {
  return db
    .selectFrom('workspace')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .select([
      'workspace.mode',
      'account.name',
      'account.username',
      'account.timezone',
      'account.suspended_at',
    ])
    .where('workspace.id', '=', workspaceId)
    .executeTakeFirstOrThrow();
}
