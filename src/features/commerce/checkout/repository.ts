import { type Insertable, sql, type Updateable } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { CheckoutTable } from '../../../platform/db/tables.generated.ts';
import type { CheckoutRow } from './rules.ts';

export type NewCheckout = Insertable<CheckoutTable>;
export type CheckoutChange = Omit<Updateable<CheckoutTable>, 'id' | 'workspace_id' | 'event_sequence'>;

/** Inserts a checkout; returns undefined when the operation has created one already. */
export function insertCheckout(tx: Tx, row: NewCheckout): Promise<CheckoutRow | undefined> {
  return tx
    .insertInto('checkout')
    .values(row)
    .onConflict((conflict) => conflict.column('operation_id').doNothing())
    .returningAll()
    .executeTakeFirst();
}

export function findByOperation(db: Db, idempotentRunId: string): Promise<CheckoutRow | undefined> {
  return db.selectFrom('checkout').selectAll().where('operation_id', '=', idempotentRunId).executeTakeFirst();
}

export function findCheckout(db: Db, workspaceId: string, id: string): Promise<CheckoutRow | undefined> {
  return db
    .selectFrom('checkout')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Finds a checkout by the ID in its page URL. */
export function findPublicCheckout(db: Db, id: string): Promise<CheckoutRow | undefined> {
  return db.selectFrom('checkout').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Finds the discount code of a checkout before the checkout is locked. */
export async function findCodeId(db: Db, id: string): Promise<string | null> {
  const row = await db
    .selectFrom('checkout')
    .select('discount_code_id')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.discount_code_id ?? null;
}

/** Locks a checkout after its code: see `outcomes.ts`. */
export function lockCheckout(tx: Tx, id: string): Promise<CheckoutRow | undefined> {
  return tx.selectFrom('checkout').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

export function updateCheckout(tx: Tx, id: string, change: CheckoutChange): Promise<CheckoutRow> {
  return tx.updateTable('checkout').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
}

/** Lists checkouts with expired reservations, whose buyers did not return. */
export function listOverdue(db: Db, now: Date, limit: number): Promise<CheckoutRow[]> {
  return db
    .selectFrom('checkout')
    .selectAll()
    .where('reserved_until', '<=', now)
    .orderBy('reserved_until')
    .limit(limit)
    .execute();
}

/** Condition that the item of a checkout is still for sale. */
const FOR_SALE = sql<boolean>`case
  when checkout.video_id is not null then exists (select from video where video.id = checkout.video_id
    and deleted_at is null and taken_down_at is null and visibility = 'PURCHASE' and price_cents is not null)
  when checkout.tier_id is not null then exists (select from tier where tier.id = checkout.tier_id
    and is_active and archived_at is null)
  else exists (select from booking_product where booking_product.id = checkout.product_id
    and booking_product.status = 'PUBLISHED') end`;

export async function isForSale(db: Db, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('checkout')
    .select(FOR_SALE.as('sold'))
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.sold === true;
}

/**
 * Reports whether the item is for sale, and locks its video or product until the transaction ends; a tier is
 * locked by the reservation of its spot.
 */
export async function isForSaleUnderLock(
  tx: Tx,
  { id, video_id: videoId, product_id: productId }: CheckoutRow,
): Promise<boolean> {
  await sql`select from video where id = ${videoId} for share`.execute(tx);
  await sql`select from booking_product where id = ${productId} for share`.execute(tx);
  return isForSale(tx, id);
}

/** Lists open checkouts of items that are no longer sold. */
export function listUnsold(db: Db, limit: number): Promise<CheckoutRow[]> {
  return db
    .selectFrom('checkout')
    .selectAll()
    .where('status', '=', 'OPEN')
    .where(sql<boolean>`not ${FOR_SALE}`)
    .limit(limit)
    .execute();
}

/** Lists expired open checkouts without a pending payment. */
export function listExpired(db: Db, now: Date, limit: number): Promise<CheckoutRow[]> {
  return db
    .selectFrom('checkout')
    .selectAll()
    .where('status', '=', 'OPEN')
    .where('expires_at', '<=', now)
    .where('reserved_until', 'is', null)
    .orderBy('expires_at')
    .limit(limit)
    .execute();
}

/** Finds the owner of the workspace as shown to buyers. */
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
