import type { Db, Tx } from '../../../../platform/db/index.ts';
import {
  previousFileBytes,
  type ReplacementRow,
  type ReplacementSource,
  replacementFrom,
  updateReplacement,
} from '../replacement/repository.ts';

/** Video and its workspace, optionally with the source of a replacement of its file. */
export interface OwnVideo extends ReplacementSource {
  workspaceId: string;
  videoId: string;
}

/** Finds the replacement that an upload or import supplies; undefined for a video's first file. */
export async function replacementBy(tx: Tx, video: OwnVideo): Promise<ReplacementRow | undefined> {
  const isFirst = video.uploadId === undefined && video.importId === undefined;
  return isFirst ? undefined : replacementFrom(tx, video.videoId, video);
}

/**
 * Returns the storage counted for a video or for the replacement of its file; undefined when there is none.
 */
export async function videoStorage(tx: Tx, video: OwnVideo): Promise<number | undefined> {
  const replacement = await replacementBy(tx, video);
  if (replacement !== undefined) return replacement.ended_at === null ? replacement.storage_bytes : undefined;
  const { workspaceId, videoId } = video;
  const row = await tx
    .selectFrom('video')
    .select('storage_bytes')
    .where('id', '=', videoId)
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
  return row?.storage_bytes;
}

export async function setVideoStorage(tx: Tx, video: OwnVideo, bytes: number): Promise<void> {
  const replacement = await replacementBy(tx, video);
  if (replacement !== undefined) {
    await updateReplacement(tx, replacement, { storage_bytes: bytes });
    return;
  }
  const { videoId } = video;
  await tx.updateTable('video').set({ storage_bytes: bytes }).where('id', '=', videoId).execute();
}

/**
 * Returns the storage used by deleted videos of a workspace whose files are not removed yet, and by replaced
 * files.
 */
export async function trashBytes(db: Db, workspaceId: string): Promise<number> {
  const rows = await trashOf(db, workspaceId);
  return rows.reduce((sum, row) => sum + row.storage_bytes, await previousFileBytes(db, workspaceId));
}

/** Lists the deleted videos of a workspace that use storage, oldest first. */
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
