import { type Insertable, sql, type Updateable } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { CheckoutTable } from '../../../platform/db/tables.generated.ts';
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
export function findPublicCheckout(db: Db, id: string): Promise<CheckoutRow | undefined> {
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
    .where('reserved_until', '<=', now)
    .orderBy('reserved_until')
    .limit(limit)
    .execute();
}

/** Reports of a checkout whether what it is for is still for sale. */
const isForSale = sql<boolean>`case
  when checkout.video_id is not null then exists (select from video where video.id = checkout.video_id
    and deleted_at is null and taken_down_at is null and visibility = 'PURCHASE' and price_cents is not null)
  when checkout.tier_id is not null then exists (select from tier where tier.id = checkout.tier_id
    and is_active and archived_at is null)
  else exists (select from booking_product where booking_product.id = checkout.product_id
    and booking_product.status = 'PUBLISHED') end`;

export async function isSold(db: Db, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('checkout')
    .select(isForSale.as('sold'))
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.sold === true;
}

/** The same; the video or product stays as it is until the transaction ends, and the claim of its place locks a tier. */
export async function isSoldUnderLock(
  tx: Tx,
  { id, video_id: videoId, product_id: productId }: CheckoutRow,
): Promise<boolean> {
  await sql`select from video where id = ${videoId} for share`.execute(tx);
  await sql`select from booking_product where id = ${productId} for share`.execute(tx);
  return isSold(tx, id);
}

/** Open ones for something that is no longer sold. */
export function listUnsold(db: Db, limit: number): Promise<CheckoutRow[]> {
  return db
    .selectFrom('checkout')
    .selectAll()
    .where('status', '=', 'OPEN')
    .where(sql<boolean>`not ${isForSale}`)
    .limit(limit)
    .execute();
}

/** Open ones whose time is over, and for which nobody pays just now. */
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
