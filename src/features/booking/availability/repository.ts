import type { Insertable, Selectable } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { AvailabilityTable } from '../../../platform/db/tables.generated.ts';

export type AvailabilityRow = Selectable<AvailabilityTable>;

export function findAvailability(db: Db, workspaceId: string): Promise<AvailabilityRow | undefined> {
  return db.selectFrom('availability').selectAll().where('workspace_id', '=', workspaceId).executeTakeFirst();
}

/** Inserts the rules of the workspace or replaces the stored ones. */
export function upsertAvailability(tx: Tx, row: Insertable<AvailabilityTable>): Promise<AvailabilityRow> {
  const { workspace_id: _, ...settings } = row;
  return tx
    .insertInto('availability')
    .values(row)
    .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(settings))
    .returningAll()
    .executeTakeFirstOrThrow();
}
