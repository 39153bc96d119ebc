import type { Db, Tx } from '../../../platform/db/index.ts';

/** A video and whose it is. */
export interface OwnVideo {
  workspaceId: string;
  videoId: string;
}

/** What one video counts; undefined where the workspace has no such video. */
export async function videoStorage(tx: Tx, { workspaceId, videoId }: OwnVideo): Promise<number | undefined> {
  const row = await tx
    .selectFrom('video')
    .select('storage_bytes')
    .where('id', '=', videoId)
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
  return row?.storage_bytes;
}

export async function setVideoStorage(tx: Tx, videoId: string, bytes: number): Promise<void> {
  await tx.updateTable('video').set({ storage_bytes: bytes }).where('id', '=', videoId).execute();
}

/** What the deleted videos of a workspace take until their files are removed. */
export async function trashBytes(db: Db, workspaceId: string): Promise<number> {
  const rows = await trashOf(db, workspaceId);
  return rows.reduce((sum, row) => sum + row.storage_bytes, 0);
}

/** The deleted videos of a workspace that take storage, oldest first. */
export function trashOf(db: Db, workspaceId: string) {
  return db
    .selectFrom('video')
    .select(['id', 'workspace_id', 'original_key', 'storage_bytes'])
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is not', null)
    .where('purged_at', 'is', null)
    .where('storage_bytes', '>', 0)
    .orderBy('deleted_at')
    .execute();
}
