import { type Selectable, sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { AccountExportTable, Database } from '../../../platform/db/tables.generated.ts';
import { DATA_INVENTORY } from './data-inventory.ts';
import { rowsOf, type Subject } from './rows.repository.ts';

export type ExportRow = Selectable<AccountExportTable>;

/** Inserts an export and deletes earlier ones. @throws when one is pending. */
export async function insertExport(
  tx: Tx,
  row: Pick<ExportRow, 'id' | 'account_id' | 'created_at'>,
): Promise<ExportRow> {
  await tx
    .deleteFrom('account_export')
    .where('account_id', '=', row.account_id)
    .where('status', '!=', 'PENDING')
    .execute();
  return tx
    .insertInto('account_export')
    .values({ ...row, status: 'PENDING', size_bytes: null, ready_at: null, expires_at: null })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function findLatest(db: Db, accountId: string): Promise<ExportRow | undefined> {
  return db
    .selectFrom('account_export')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .executeTakeFirst();
}

export function findExport(db: Db, id: string): Promise<ExportRow | undefined> {
  return db.selectFrom('account_export').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Updates a pending export. @returns whether it was pending. */
export async function endExport(
  tx: Tx,
  id: string,
  values: Pick<ExportRow, 'status' | 'size_bytes' | 'ready_at' | 'expires_at'>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('account_export')
    .set(values)
    .where('id', '=', id)
    .where('status', '=', 'PENDING')
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export function findOver(db: Db, now: Date): Promise<ExportRow[]> {
  return db.selectFrom('account_export').selectAll().where('expires_at', '<=', now).execute();
}

export async function deleteExport(db: Db, id: string): Promise<void> {
  await db.deleteFrom('account_export').where('id', '=', id).execute();
}

const PAGE = 500;
/** Idle timeout, because the reader of the archive may be slow: ultimately the storage. */
const IDLE_TIMEOUT = '15min';

/**
 * Streams the account's rows of a table as JSON from one snapshot. Binary columns and hidden ones are
 * omitted.
 */
export async function* exportedRows(db: Db, table: keyof Database, subject: Subject): AsyncGenerator<string> {
  const { hidden = [] } = DATA_INVENTORY[table];
  const tx = await db.startTransaction().execute();
  try {
    await sql`set local idle_in_transaction_session_timeout = ${sql.lit(IDLE_TIMEOUT)}`.execute(tx);
    const { rows: bytes } = await sql<{ name: string }>`
      select attname as name from pg_attribute where attrelid = ${table}::regclass and atttypid = 'bytea'::regtype`.execute(
      tx,
    );
    const left = [...(hidden === 'all' ? [] : hidden), ...bytes.map(({ name }) => name)];
    const names = left.map((name) => sql`${name}::text`);
    const without = left.length === 0 ? sql`'{}'::text[]` : sql`array[${sql.join(names)}]`;
    const rows = sql`select (to_jsonb(held) - ${without})::text as row
      from (select * from ${sql.table(table)} where ${rowsOf(table, subject)}) held`;
    await sql`declare exported no scroll cursor for ${rows}`.execute(tx);
    for (;;) {
      const page = await sql<{ row: string }>`fetch ${sql.lit(PAGE)} from exported`.execute(tx);
      for (const { row } of page.rows) yield row;
      if (page.rows.length < PAGE) return;
    }
  } finally {
    await tx.rollback().execute();
  }
}

/** Lists videos that still have their original, by creation. */
export function originals(db: Db, { workspaceIds }: Subject) {
  return db
    .selectFrom('video')
    .select(['id', 'original_key', 'title'])
    .where('workspace_id', 'in', workspaceIds)
    .where('original_key', 'is not', null)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute();
}

export async function listImages(db: Db, { accountId, workspaceIds }: Subject) {
  const [avatars, banners] = await Promise.all([
    db.selectFrom('avatar').select(['id', 'image']).where('account_id', '=', accountId).execute(),
    db.selectFrom('banner').select(['id', 'image']).where('workspace_id', 'in', workspaceIds).execute(),
  ]);
  return [...avatars, ...banners];
}
