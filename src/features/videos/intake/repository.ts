import type { Tx } from '../../../platform/db/index.ts';

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
