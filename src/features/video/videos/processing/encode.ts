import { join } from 'node:path';
import type { RenditionFiles } from '../../../../media/contract/index.ts';
import { encodeChunk, split, stitch } from './chunks.ts';
import type { ProcessingContext } from './context.ts';
import { makeDir, withScratch } from './files.ts';
import { begin } from './flow.ts';
import { storeSideImages } from './images.ts';
import { missingRenditions, publishRenditions, useOriginal } from './output.ts';
import { refineLadder } from './per-title.ts';
import { createProgressWriter } from './progress.ts';
import * as repository from './repository.ts';
import type { EncodeRun, EncodeStep } from './step.ts';

/** Runs one task that occupies a transcode slot. */
export async function encode(deps: ProcessingContext, run: EncodeRun): Promise<void> {
  const video = await begin(deps, run);
  if (video === undefined) return;
  const processing = await repository.findProcessing(deps.db, video.id, video.revision);
  if (processing === undefined) return;
  await withScratch(deps.scratchDir, run.id, async (dir) => {
    const step: EncodeStep = { run, video, processing, dir };
    switch (run.payload.task) {
      case 'SPLIT':
        return split(deps, step);
      case 'CHUNK':
        return encodeChunk(deps, step);
      case 'STITCH':
        return stitch(deps, step);
      default:
        return encodeRungs(deps, step);
    }
  });
}

/**
 * Encodes the renditions of a task. FIRST: the lowest rung and the default audio, for early playback. AUDIO:
 * the additional audio tracks. REST: everything that is missing.
 */
async function encodeRungs(deps: ProcessingContext, step: EncodeStep): Promise<void> {
  const { run, video, processing, dir } = step;
  const { source, align_to_source: alignToSource } = processing;
  const { signal } = run;
  const refined = await refineLadder(deps, step);
  const { keyframeSec } = refined;
  const open = await missingRenditions(deps, video, refined);
  const isAudio = run.payload.task === 'AUDIO';
  const rungs = isAudio ? [] : run.payload.task === 'FIRST' ? open.rungs.slice(-1) : open.rungs;
  const audio = isAudio ? open.otherAudio : rungs.length === 0 ? [] : open.audio;
  if (rungs.length + audio.length === 0) return;
  const names = rungs.map(({ name }) => name);
  const progress = createProgressWriter(
    (percent) => repository.writeProgress(deps.db, video.id, video.revision, names, percent),
    deps.log,
  );
  // The last try omits the images: a video is valid even when its images cannot be created.
  const isPlain = rungs.length === 0 || processing.images_done || run.isLast;
  const outDir = await makeDir(dir, 'out');
  const { renditions, images } = await useOriginal(deps, video, signal, async (input) => {
    const onProgress = progress.report;
    const ladder = { input, source, outDir, signal, onProgress, rungs, audio, alignToSource, keyframeSec };
    return (
      isPlain ? deps.transcoder.encode(ladder).then(withoutImages) : deps.transcoder.encodeWithImages(ladder)
    ).finally(progress.end);
  });
  const showImages =
    images === null
      ? undefined
      : await storeSideImages(deps, video, { dir: join(outDir, 'img'), names: images, signal });
  await publishRenditions(deps, run, video, outDir, renditions, showImages);
}

function withoutImages(renditions: RenditionFiles[]): { renditions: RenditionFiles[]; images: null } {
  return { renditions, images: null };
}
