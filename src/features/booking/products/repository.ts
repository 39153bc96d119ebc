import type { Insertable, Selectable, Updateable } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { pagePerCombination } from '../../../platform/db/page-filters.ts';
import {
  type BookingProductStatus,
  type BookingProductTable,
  type BookingProductType,
  VALUES,
} from '../../../platform/db/tables.generated.ts';

export type ProductRow = Selectable<BookingProductTable>;
export type ProductChange = Omit<Updateable<BookingProductTable>, 'id' | 'workspace_id' | 'event_sequence'>;

export interface ProductFilters {
  statuses: readonly BookingProductStatus[] | undefined;
  types: readonly BookingProductType[] | undefined;
}

export function insertProduct(tx: Tx, row: Insertable<BookingProductTable>): Promise<ProductRow> {
  return tx.insertInto('booking_product').values(row).returningAll().executeTakeFirstOrThrow();
}

export function findProduct(db: Db, workspaceId: string, id: string): Promise<ProductRow | undefined> {
  return select(db, workspaceId).where('id', '=', id).executeTakeFirst();
}

/** @param slugOrId the path segment of its page. */
export function findPublished(
  db: Db,
  workspaceId: string,
  slugOrId: string,
): Promise<ProductRow | undefined> {
  return select(db, workspaceId)
    .where('status', '=', 'PUBLISHED')
    .where((eb) => eb.or([eb('slug', '=', slugOrId), eb('id', '=', slugOrId)]))
    .executeTakeFirst();
}

export function lockOwnProduct(tx: Tx, workspaceId: string, id: string): Promise<ProductRow | undefined> {
  return select(tx, workspaceId).where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

export function lockProduct(tx: Tx, id: string): Promise<ProductRow | undefined> {
  return selectOne(tx, id).forNoKeyUpdate().executeTakeFirst();
}

/** Locks the product for share: it cannot change, and others may lock it too. */
export function lockProductForShare(tx: Tx, id: string): Promise<ProductRow | undefined> {
  return selectOne(tx, id).forShare().executeTakeFirst();
}

const selectOne = (tx: Tx, id: string) => tx.selectFrom('booking_product').selectAll().where('id', '=', id);

export function listProducts(
  db: Db,
  workspaceId: string,
  { statuses, types }: ProductFilters,
  page: PageRequest,
): Promise<ProductRow[]> {
  const listed = { table: 'booking_product', of: { workspace_id: workspaceId } };
  const { booking_product: all } = VALUES;
  return select(db, workspaceId)
    .where(pagePerCombination(page, listed, { type: [types, all.type], status: [statuses, all.status] }))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

export function updateProduct(tx: Tx, id: string, change: ProductChange): Promise<ProductRow> {
  return tx
    .updateTable('booking_product')
    .set(change)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteProduct(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('booking_product').where('id', '=', id).execute();
}

function select(db: Db, workspaceId: string) {
  return db.selectFrom('booking_product').selectAll().where('workspace_id', '=', workspaceId);
}
