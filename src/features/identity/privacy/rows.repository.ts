import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../platform/db/index.ts';
import type { Database } from '../../../platform/db/tables.generated.ts';
import { DATA_INVENTORY } from './data-inventory.ts';

/** Owner of rows, by the IDs that tables use. */
export interface Subject {
  accountId: string;
  /** IDs of the live and the test workspace. */
  workspaceIds: readonly string[];
}

/** Returns the condition for the account's rows of a table, by its policy. */
export function rowsOf(table: keyof Database, subject: Subject): RawBuilder<boolean> {
  const holding = DATA_INVENTORY[table];
  const { accountId, workspaceIds } = subject;
  if (holding.of === 'nobody') return sql<boolean>`false`;
  if (holding.of === 'account')
    return sql<boolean>`${sql.ref(holding.column ?? 'account_id')} = ${accountId}`;
  if (holding.of === 'rows') {
    const { key = 'id', table: parent, column } = holding;
    return sql<boolean>`${sql.ref(column)} in (select ${sql.ref(`of.${key}`)} from ${sql.table(parent)} "of"
      where ${rowsOf(parent, subject)})`;
  }
  return sql<boolean>`workspace_id in (${sql.join(workspaceIds)})`;
}

/**
 * Deletes from a table of any feature: erasure is independent of features
 * (docs/decisions/privacy.md#table-inventory).
 *
 * @returns the number of rows.
 */
export async function deleteRows(
  db: Db,
  table: keyof Database,
  condition: RawBuilder<boolean>,
): Promise<number> {
  const { numAffectedRows } = await sql`delete from ${sql.table(table)} where ${condition}`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/** Sets columns of a table of any feature. */
export async function anonymizeRows(
  db: Db,
  table: keyof Database,
  values: RawBuilder<unknown>,
  condition: RawBuilder<boolean>,
): Promise<void> {
  await sql`update ${sql.table(table)} set ${values} where ${condition}`.execute(db);
}
