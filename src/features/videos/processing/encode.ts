import { encodeChunk, split, stitch } from './chunks.ts';
import type { ProcessingContext } from './context.ts';
import { makeDir, withScratch } from './files.ts';
import { begin } from './flow.ts';
import { missing, publishRenditions, useOriginal } from './output.ts';
import { createProgressWriter } from './progress.ts';
import * as repository from './repository.ts';
import type { EncodeRun, EncodeStep } from './step.ts';

/** One task that takes a transcode slot. */
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
 * FIRST: the lowest rung and the sound, for something to be seen soon. AUDIO: the other sounds of the source. REST: all
 * that is missing.
 */
async function encodeRungs(deps: ProcessingContext, step: EncodeStep): Promise<void> {
  const { run, video, processing, dir } = step;
  const { source, ladder, align_to_source: alignToSource } = processing;
  const { signal } = run;
  const open = await missing(deps, video, ladder);
  const isAudio = run.payload.task === 'AUDIO';
  const rungs = isAudio ? [] : run.payload.task === 'FIRST' ? open.rungs.slice(-1) : open.rungs;
  const audio = isAudio ? open.otherAudio : rungs.length === 0 ? [] : open.audio;
  if (rungs.length + audio.length === 0) return;
  const names = rungs.map(({ name }) => name);
  const progress = createProgressWriter(
    (percent) => repository.writeProgress(deps.db, video.id, video.revision, names, percent),
    deps.log,
  );
  const outDir = await makeDir(dir, 'out');
  const made = await useOriginal(deps, video, signal, (input) => {
    const onProgress = progress.report;
    return deps.transcoder
      .encode({ input, source, outDir, signal, onProgress, rungs, audio, alignToSource })
      .finally(progress.end);
  });
  await publishRenditions(deps, run, video, outDir, made);
}
