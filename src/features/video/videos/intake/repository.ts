import type { Db, Tx } from '../../../../platform/db/index.ts';
import {
  previousFileBytes,
  type ReplacementRow,
  type ReplacementSource,
  replacementFrom,
  updateReplacement,
} from '../replacement/repository.ts';

/** A video and whose it is. What brings its file may replace the one that it has. */
export interface OwnVideo extends ReplacementSource {
  workspaceId: string;
  videoId: string;
}

/** What an upload or an import is to replace; undefined for a video's first file. */
export async function replacementBy(tx: Tx, video: OwnVideo): Promise<ReplacementRow | undefined> {
  const isFirst = video.uploadId === undefined && video.importId === undefined;
  return isFirst ? undefined : replacementFrom(tx, video.videoId, video);
}

/** What one video counts, or the file that is to replace its own; undefined where the workspace has no such video. */
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

/** What the deleted videos of a workspace take until their files are removed, and files that were replaced. */
export async function trashBytes(db: Db, workspaceId: string): Promise<number> {
  const rows = await trashOf(db, workspaceId);
  return rows.reduce((sum, row) => sum + row.storage_bytes, await previousFileBytes(db, workspaceId));
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
