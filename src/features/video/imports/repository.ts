import type { Insertable, Selectable, Updateable } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { pagePerCombination } from '../../../platform/db/page-filters.ts';
import {
  type ImportProvider,
  type ImportStatus,
  type ImportTable,
  VALUES,
} from '../../../platform/db/tables.generated.ts';

export type ImportRow = Selectable<ImportTable>;
export type ImportChange = Updateable<ImportTable>;

export interface ImportFilter {
  status?: readonly ImportStatus[] | undefined;
  provider?: readonly ImportProvider[] | undefined;
}

export function insertImport(tx: Tx, row: Insertable<ImportTable>): Promise<ImportRow> {
  return tx.insertInto('import').values(row).returningAll().executeTakeFirstOrThrow();
}

export function findImport(db: Db, workspaceId: string, id: string): Promise<ImportRow | undefined> {
  return db
    .selectFrom('import')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Finds an import in any workspace, for the worker, which knows only the ID. */
export function findAnyImport(db: Db, id: string): Promise<ImportRow | undefined> {
  return db.selectFrom('import').selectAll().where('id', '=', id).executeTakeFirst();
}

export function listImports(
  db: Db,
  workspaceId: string,
  { status, provider }: ImportFilter,
  page: PageRequest,
): Promise<ImportRow[]> {
  const listed = { table: 'import', prefix: 'imp', of: { workspace_id: workspaceId } } as const;
  const each = {
    provider: [provider, VALUES.import.provider],
    status: [status, VALUES.import.status],
  } as const;
  return db
    .selectFrom('import')
    .selectAll()
    .where(pagePerCombination(page, listed, each))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

/** Locks an import by ID. The caller has already found it in its workspace or by its job. */
export function lockImport(tx: Tx, id: string): Promise<ImportRow> {
  return tx.selectFrom('import').selectAll().where('id', '=', id).forUpdate().executeTakeFirstOrThrow();
}

/** Locks the import that the video comes from. */
export function lockImportOf(tx: Tx, videoId: string): Promise<ImportRow | undefined> {
  return importsOf(tx, videoId).where('replaces', '=', false).executeTakeFirst();
}

/** Locks that import and those of replacements of the video's file. */
export function lockImportsOf(tx: Tx, videoId: string): Promise<ImportRow[]> {
  return importsOf(tx, videoId).execute();
}

function importsOf(tx: Tx, videoId: string) {
  return tx.selectFrom('import').selectAll().where('video_id', '=', videoId).orderBy('id').forUpdate();
}

export function updateImport(tx: Tx, id: string, change: ImportChange): Promise<ImportRow> {
  return tx.updateTable('import').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
}
