import { videoPrefix } from '../../../kernel/media-keys.ts';
import type { ProcessingDeps } from './context.ts';
import * as repository from './repository.ts';

/** Removes the folders of a processed video that nothing points to. */
export async function cleanUp(deps: ProcessingDeps, videoId: string): Promise<void> {
  const { db, store } = deps;
  const video = await repository.findVideo(db, videoId);
  if (video === undefined) return;
  for (const { number, name } of await repository.unusedFolders(db, videoId)) {
    await store.deletePrefix(`${videoPrefix(video)}/${name}/`);
    await repository.forgetFolder(db, videoId, number);
  }
}
