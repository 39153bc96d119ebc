import { videoPrefix } from '../../../../kernel/media-keys.ts';
import { lockWorkspace } from '../../../../platform/db/workspace.ts';
import { releaseBytes } from '../intake/storage-reservation.service.ts';
import * as replacements from '../replacement/repository.ts';
import { lockAnyVideo, type VideoRow } from '../repository.ts';
import type { ProcessingDeps } from './context.ts';
import * as repository from './repository.ts';

/** Removes unreferenced folders of a processed video, and files of abandoned replacements. */
export async function cleanUp(deps: ProcessingDeps, videoId: string): Promise<void> {
  const { db, store } = deps;
  const video = await repository.findVideo(db, videoId);
  if (video === undefined) return;
  for (const row of await replacements.listDiscardedReplacements(db, videoId))
    await discard(deps, video, row);
  for (const { number, name } of await repository.unusedFolders(db, videoId)) {
    await store.deletePrefix(`${videoPrefix(video)}/${name}/`);
    await repository.forgetFolder(db, videoId, number);
  }
}

/**
 * Removes the files of a replacement before its row is changed: after a crash in between they are removed
 * again.
 */
async function discard(
  { db, store }: ProcessingDeps,
  video: VideoRow,
  { revision, original_key: original, captions }: replacements.ReplacementRow,
): Promise<void> {
  const { id, workspace_id: workspaceId } = video;
  if (original !== null) await store.delete(original);
  for (const { file } of captions) await store.delete(`${videoPrefix(video)}/captions/${file}`);
  await db.transaction().execute(async (tx) => {
    await lockWorkspace(tx, workspaceId);
    await lockAnyVideo(tx, id);
    const row = await replacements.findReplacement(tx, id, revision);
    if (row === undefined) return;
    // Releases nothing once the video is deleted: the storage then belongs to the video.
    await releaseBytes(tx, workspaceId, row.storage_bytes);
    await replacements.updateReplacement(tx, row, { original_key: null, captions: '[]', storage_bytes: 0 });
    await replacements.deleteRevision(tx, id, revision);
  });
}
