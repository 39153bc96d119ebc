import { videoPrefix } from '../../../../kernel/media-keys.ts';
import {
  type AudioPlan,
  type LadderPlan,
  MediaFileError,
  type RenditionFiles,
  type RungPlan,
} from '../../../../media/contract/index.ts';
import type { Tx } from '../../../../platform/db/index.ts';
import type { VideoRow } from '../repository.ts';
import type { ProcessingContext, ProcessingDeps } from './context.ts';
import { storeRenditions } from './files.ts';
import { advance, commitRun, type Run } from './flow.ts';
import { reconcile } from './measured.ts';
import type { ProcessedVideo } from './processed.ts';
import * as repository from './repository.ts';

/** Runs `work` with a local path of the video's original. */
export async function useOriginal<T>(
  { store, originals }: Pick<ProcessingContext, 'store' | 'originals'>,
  video: VideoRow,
  signal: AbortSignal,
  work: (path: string) => Promise<T>,
): Promise<T> {
  const key = video.original_key;
  if (key === null || (await store.head(key)) === null) {
    throw new MediaFileError('SOURCE_UNREACHABLE', 'The original file no longer exists.');
  }
  return originals.use(key, signal, work);
}

/**
 * Puts renditions into a folder of the store that no other run has, then lets players see them, in one
 * transaction: a run that was killed or overtaken leaves only files that nothing points to.
 *
 * @param showImages what else becomes visible then.
 */
export async function publishRenditions(
  deps: ProcessingDeps,
  run: Run,
  video: VideoRow,
  outDir: string,
  made: readonly RenditionFiles[],
  showImages?: (tx: Tx, row: ProcessedVideo) => Promise<ProcessedVideo>,
): Promise<void> {
  const { db, store, onPlayable } = deps;
  const folder = await repository.claimFolder(db, video.id, video.revision);
  await storeRenditions(store, `${videoPrefix(video)}/${folder}`, outDir, made, run.signal);
  await commitRun(deps, run, async (tx, append, row) => {
    const before = await repository.renditionsOf(tx, row.id, row.revision);
    await repository.finishRenditions(tx, row.id, row.revision, folder, made);
    const wasPlayable = before.some(({ kind, status }) => kind === 'VIDEO' && status === 'READY');
    // A video with a replacement has been playable before.
    if (!row.replaces && !wasPlayable && made.some(({ kind }) => kind === 'VIDEO')) {
      for (const hook of onPlayable) await hook(tx, append, row);
    }
    const measured = await reconcile(tx, row, made);
    await advance(deps, tx, append, showImages === undefined ? measured : await showImages(tx, measured));
  });
}

/**
 * Returns the planned renditions that are not playable yet.
 *
 * @returns `audio`: the default audio, which comes with the first video renditions; `otherAudio`: the rest.
 */
export async function missingRenditions(
  { db }: Pick<ProcessingDeps, 'db'>,
  video: VideoRow,
  ladder: LadderPlan,
): Promise<{ rungs: RungPlan[]; audio: AudioPlan[]; otherAudio: AudioPlan[] }> {
  const renditions = await repository.renditionsOf(db, video.id, video.revision);
  const ready = new Set(renditions.filter(({ status }) => status === 'READY').map(({ name }) => name));
  const isMissing = ({ name }: { name: string }) => !ready.has(name);
  return {
    rungs: ladder.rungs.filter(isMissing),
    audio: ladder.audio.slice(0, 1).filter(isMissing),
    otherAudio: ladder.audio.slice(1).filter(isMissing),
  };
}
