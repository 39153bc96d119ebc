import type { Static } from 'typebox';
import type { AppendEvent } from '../../../../events/index.ts';
import type { JobRun } from '../../../../jobs/job.ts';
import { newUuid } from '../../../../kernel/ids.ts';
import { videoPrefix } from '../../../../kernel/media-keys.ts';
import type { SourceInfo } from '../../../../media/contract/index.ts';
import type { Tx } from '../../../../platform/db/index.ts';
import { isDiskError } from '../../../../platform/disk.ts';
import { lockAnyVideo, updateVideo, type VideoRow } from '../repository.ts';
import { VIDEO_TOPIC } from '../with-locked-video.ts';
import type { ProcessingContext, ProcessingDeps } from './context.ts';
import { makeDir, storeFiles, withScratch } from './files.ts';
import { begin, commitRun, completeIfLast, type Run } from './flow.ts';
import type { imagesJob, thumbnailJob } from './jobs.ts';
import { useOriginal } from './output.ts';
import { findProcessed, type ProcessedVideo, updateProcessed } from './processed.ts';
import * as repository from './repository.ts';
import { hasPosterOf } from './rules.ts';

/** Images may be added to a READY video. */
const DURING = ['PROCESSING', 'READY'] as const;

type ImagesRun = Run<Static<typeof imagesJob.payload>>;

/**
 * Creates the poster first, which a page shows as soon as the video is playable; then the other images,
 * unless an encode creates them.
 */
export async function makeImages(deps: ProcessingContext, run: ImagesRun): Promise<void> {
  const { db, scratchDir } = deps;
  const video = await begin(deps, run, DURING);
  if (video === undefined) return;
  const processing = await repository.findProcessing(db, video.id, video.revision);
  if (processing === undefined || processing.images_done) return;
  const isPosterAlone = run.payload.task === 'POSTER';
  if (isPosterAlone && hasPosterOf(video)) return;
  const folder = await folderFor(deps, video);
  const { source } = processing;
  await withScratch(scratchDir, run.id, (dir) =>
    useOriginal(deps, video, run.signal, async (input) => {
      const poster = await makeSome(deps, run, { video, folder, dir, input, source, storyboard: false });
      await commitRun(deps, run, (tx, append, row) => showPoster(deps, tx, append, row, folder), DURING);
      if (isPosterAlone) return;
      const all = { video, folder, dir, input, source, storyboard: true, poster };
      await makeOptional(deps, run, all);
    }),
  );
}

async function showPoster(
  deps: ProcessingDeps,
  tx: Tx,
  append: AppendEvent,
  row: ProcessedVideo,
  folder: string,
): Promise<void> {
  if (hasPosterOf(row)) return;
  const shown = { image_folder: folder, has_storyboard: false, has_preview: false };
  await completeIfLast(deps, tx, append, await updateProcessed(tx, row, shown));
}

/** Creates storyboard and preview in one try: a video becomes and stays READY without them. */
async function makeOptional(deps: ProcessingContext, run: ImagesRun, images: ImageRun): Promise<void> {
  let names: string[];
  try {
    names = await makeSome(deps, run, images);
  } catch (error) {
    if (run.signal.aborted || isDiskError(error)) throw error;
    deps.log.warn({ err: error, videoId: images.video.id }, 'a video has only a poster and no other images');
    return skipImages(deps, run);
  }
  await commitRun(
    deps,
    run,
    async (tx, append, row) => {
      const after = await finishImages(tx, row, images.folder, names);
      await completeIfLast(deps, tx, append, after);
    },
    DURING,
  );
}

/** Returns the folder of the poster, if there is one, so that its URL is stable; otherwise a new one. */
async function folderFor({ db }: Pick<ProcessingDeps, 'db'>, { id, revision }: VideoRow): Promise<string> {
  const row = await findProcessed(db, id, revision);
  if (row !== undefined && row.image_folder !== null && hasPosterOf(row)) return row.image_folder;
  return repository.claimFolder(db, id, revision);
}

async function finishImages(
  tx: Tx,
  row: ProcessedVideo,
  folder: string,
  names: readonly string[],
): Promise<ProcessedVideo> {
  await repository.updateProcessing(tx, row.id, row.revision, { images_done: true });
  return updateProcessed(tx, row, {
    image_folder: folder,
    has_storyboard: names.includes('storyboard.vtt'),
    has_preview: names.includes('preview.webp'),
  });
}

/** Stores the images that an encode has produced. */
export async function storeSideImages(
  deps: ProcessingDeps,
  video: VideoRow,
  made: { dir: string; names: readonly string[]; signal: AbortSignal },
): Promise<(tx: Tx, row: ProcessedVideo) => Promise<ProcessedVideo>> {
  const { dir, names, signal } = made;
  const folder = await folderFor(deps, video);
  await storeFiles(deps.store, `${videoPrefix(video)}/${folder}/img`, dir, names, signal);
  return (tx, row) => finishImages(tx, row, folder, names);
}

interface ImageRun {
  video: VideoRow;
  folder: string;
  dir: string;
  input: string;
  source: SourceInfo;
  storyboard: boolean;
  /** Names of the poster images already in the folder. */
  poster?: readonly string[];
}

/** @returns the names of the images in the folder. */
async function makeSome(
  { store, transcoder }: ProcessingContext,
  { signal }: Run,
  { video, folder, dir, input, source, storyboard, poster = [] }: ImageRun,
): Promise<string[]> {
  const outDir = await makeDir(dir, storyboard ? 'storyboard' : 'poster');
  const names = await transcoder.images({ input, source, outDir, signal, posterAtSec: null, storyboard });
  const added = names.filter((name) => !poster.includes(name));
  await storeFiles(store, `${videoPrefix(video)}/${folder}/img`, outDir, added, signal);
  return names;
}

/**
 * Skips the images: processing continues, since the video is playable without them. A missing poster comes
 * with the others.
 */
export async function skipImages(deps: ProcessingDeps, run: ImagesRun): Promise<void> {
  if (run.payload.task === 'POSTER') return;
  await commitRun(
    deps,
    run,
    async (tx, append, row) => {
      await repository.updateProcessing(tx, row.id, row.revision, { images_done: true });
      await completeIfLast(deps, tx, append, row);
    },
    DURING,
  );
}

/**
 * Sets a frame of the original as the thumbnail, unless the request was withdrawn or replaced in the interim.
 */
export async function makeThumbnail(
  deps: ProcessingContext,
  run: JobRun<Static<typeof thumbnailJob.payload>>,
): Promise<void> {
  const { db, store, transcoder, scratchDir, events, bus, clock } = deps;
  const { videoId, atSec } = run.payload;
  const { signal } = run;
  const video = await repository.findVideo(db, videoId);
  if (video === undefined) return;
  const file = `${newUuid()}.jpg`;
  await withScratch(scratchDir, run.id, async (dir) => {
    await useOriginal(deps, video, signal, async (input) => {
      const known = await repository.findProcessing(db, videoId, video.revision);
      const source = known?.source ?? (await transcoder.probe(input, signal));
      await transcoder.images({ input, source, outDir: dir, signal, posterAtSec: atSec, storyboard: false });
    });
    await store.putFile(`${videoPrefix(video)}/thumbnails/${file}`, `${dir}/poster.jpg`, 'image/jpeg');
  });
  const former = await events.transaction(async (tx) => {
    const row = await lockAnyVideo(tx, videoId);
    await run.confirm(tx);
    if (row === undefined || row.deleted_at !== null) return null;
    await updateVideo(tx, videoId, { thumbnail_file: file, updated_at: clock.now() });
    return row.thumbnail_file;
  });
  bus.publish(VIDEO_TOPIC, videoId);
  if (former !== null) await store.delete(`${videoPrefix(video)}/thumbnails/${former}`);
}
