import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { pageCondition } from '../../../platform/db/page.ts';
import type { TierTable } from '../../../platform/db/tables.generated.ts';
import { isAccountActive } from '../../../platform/db/workspace.ts';

export type TierRow = Selectable<TierTable>;
export type TierChange = Omit<Updateable<TierTable>, 'id' | 'workspace_id' | 'event_sequence'>;

export function insertTier(tx: Tx, row: Insertable<TierTable>): Promise<TierRow> {
  return tx.insertInto('tier').values(row).returningAll().executeTakeFirstOrThrow();
}

export function findTier(db: Db, workspaceId: string, id: string): Promise<TierRow | undefined> {
  return select(db, workspaceId).where('id', '=', id).executeTakeFirst();
}

/** Finds a tier of any workspace in good standing that accepts members. */
export function findOpenTier(db: Db, id: string): Promise<TierRow | undefined> {
  return db
    .selectFrom('tier')
    .selectAll()
    .where('id', '=', id)
    .where('is_active', '=', true)
    .where('archived_at', 'is', null)
    .where(isAccountActive('tier.workspace_id'))
    .executeTakeFirst();
}

export function lockTier(tx: Tx, workspaceId: string, id: string): Promise<TierRow | undefined> {
  return select(tx, workspaceId).where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

/** @param onlyOpen limits the list to tiers that accept members. */
export function listTiers(
  db: Db,
  workspaceId: string,
  onlyOpen: boolean,
  page: PageRequest,
): Promise<TierRow[]> {
  return select(db, workspaceId)
    .$if(onlyOpen, (query) => query.where('is_active', '=', true).where('archived_at', 'is', null))
    .where(pageCondition(page))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

/** Locks a tier against new references; waits for transactions that are adding one. */
export function lockTierForUpdate(tx: Tx, workspaceId: string, id: string): Promise<TierRow | undefined> {
  return select(tx, workspaceId).where('id', '=', id).forUpdate().executeTakeFirst();
}

/** Locks a tier for new references: it stays until the transaction ends. */
export function lockTierKeyShare(tx: Tx, workspaceId: string, id: string): Promise<TierRow | undefined> {
  return select(tx, workspaceId).where('id', '=', id).forKeyShare().executeTakeFirst();
}

/** Counts the tiers that are not archived. */
export async function countTiers(db: Db, workspaceId: string): Promise<number> {
  const { count } = await db
    .selectFrom('tier')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('workspace_id', '=', workspaceId)
    .where('archived_at', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

export function updateTier(tx: Tx, id: string, change: TierChange): Promise<TierRow> {
  return tx.updateTable('tier').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
}

/**
 * Deletes a tier locked by `lockTierForUpdate`.
 *
 * @returns whether it was deleted: a tier that was bought, or is being bought, stays.
 */
export async function deleteUnused(tx: Tx, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('tier')
    .where('id', '=', id)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('subscription')
            .select('subscription.id')
            .where((of) =>
              of.or([of('subscription.tier_id', '=', id), of('subscription.pending_tier_id', '=', id)]),
            ),
        ),
      ),
    )
    .where((eb) =>
      eb.not(eb.exists(eb.selectFrom('checkout').select('checkout.id').where('checkout.tier_id', '=', id))),
    )
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * Reserves a spot for a buyer who pays.
 *
 * @returns false when there is none, or the tier accepts no members.
 */
export async function reserveSpot(tx: Tx, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('tier')
    .set({ reserved_count: sql`reserved_count + 1` })
    .where('id', '=', id)
    .where('is_active', '=', true)
    .where('archived_at', 'is', null)
    .where(sql<boolean>`(max_members is null or member_count + reserved_count < max_members)`)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Adjusts the two counts by these amounts. */
export async function adjustMemberCounts(tx: Tx, id: string, by: { claimed: number; members: number }) {
  await tx
    .updateTable('tier')
    .set({
      reserved_count: sql`reserved_count + ${by.claimed}`,
      member_count: sql`member_count + ${by.members}`,
    })
    .where('id', '=', id)
    .execute();
}

function select(db: Db, workspaceId: string) {
  return db.selectFrom('tier').selectAll().where('workspace_id', '=', workspaceId);
}

/** Returns those of the IDs that are tiers of the workspace. */
export async function filterExistingTiers(
  db: Db,
  workspaceId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await select(db, workspaceId).where('id', 'in', ids).execute();
  return rows.map(({ id }) => id);
}
