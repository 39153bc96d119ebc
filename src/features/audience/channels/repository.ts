import type { Insertable, Selectable } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { BannerTable, ChannelTable } from '../../../platform/db/tables.generated.ts';

export type ChannelRow = Selectable<ChannelTable>;
export type ChannelChange = Partial<Omit<Insertable<ChannelTable>, 'workspace_id'>>;

/**
 * Finds the profile of a channel and the ID of its banner; undefined for a channel that was never changed.
 */
export function findChannel(db: Db, workspaceId: string) {
  return db
    .selectFrom('channel')
    .leftJoin('banner', 'banner.workspace_id', 'channel.workspace_id')
    .selectAll('channel')
    .select('banner.id as banner_id')
    .where('channel.workspace_id', '=', workspaceId)
    .executeTakeFirst();
}

/** Writes the changed fields. */
export async function upsertChannel(
  tx: Tx,
  workspaceId: string,
  change: ChannelChange & { updated_at: Date },
): Promise<void> {
  await tx
    .insertInto('channel')
    .values({ workspace_id: workspaceId, ...change })
    .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(change))
    .execute();
}

/** Replaces an existing one. */
export async function upsertBanner(tx: Tx, row: Insertable<BannerTable>): Promise<void> {
  const { id, image, created_at } = row;
  await tx
    .insertInto('banner')
    .values(row)
    .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet({ id, image, created_at }))
    .execute();
}

/** @returns whether it existed. */
export async function deleteBanner(tx: Tx, workspaceId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('banner')
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Finds a banner by ID only, because banners are public. */
export async function findBanner(db: Db, id: string): Promise<Uint8Array | undefined> {
  const row = await db
    .selectFrom('banner')
    .innerJoin('workspace', 'workspace.id', 'banner.workspace_id')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .select('banner.image')
    .where('banner.id', '=', id)
    .where('account.suspended_at', 'is', null)
    .executeTakeFirst();
  return row?.image;
}
