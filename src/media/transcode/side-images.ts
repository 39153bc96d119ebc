import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SourceInfo, TranscodeRun } from '../contract/index.ts';
import type { FfmpegCapabilities } from '../ffmpeg/check.ts';
import { readOutput } from '../ffmpeg/output.ts';
import { type SideImageInput, SOURCE } from './filters.ts';
import {
  BRIGHT_JPEG,
  dueTiles,
  LAST_PICTURE_SEC,
  POSTER,
  POSTER_OUTPUT,
  PREVIEW,
  PREVIEW_MAX_BYTES,
  PREVIEW_SEC,
  PREVIEW_TRIES,
  posterPlaces,
  posterSize,
  previewOutput,
  previewSize,
  previewStart,
  SEARCH_SEC,
  SHEET,
  SHEET_QUALITY,
  tileScale,
  videoSpanOf,
} from './image-filters.ts';
import { createTimes, type ImageTask, makePoster, makePreview, sizeOf, writeStoryboard } from './images.ts';
import type { Tools } from './run.ts';
import { sheetName } from './storyboard.ts';

/** Folder of the images within that of the run. */
export const IMAGES = 'img';
/** Fallback poster, in case all candidates are black. */
const ANY = 'any.jpg';
const TIMES = 'tiles.txt';
const TIMES_MAX_BYTES = 2 ** 20;
/** Interval of the candidates: frames within a second are similar. */
const CANDIDATE_SEC = 1;

/**
 * Images created by the ffmpeg that encodes the rungs (docs/decisions/transcoding.md#images), without
 * additional decoding.
 */
export interface SideImages {
  pictures: SideImageInput[];
  outputs: string[];
}

/** @param smallest index of the smallest rung: storyboards are scaled from it. */
export function sideImages(source: SourceInfo, smallest: number, abilities: FfmpegCapabilities): SideImages {
  const { canWriteWebp, sourceTimeBase } = abilities;
  const [{ rate, quality }] = PREVIEW_TRIES;
  const fromSec = canWriteWebp ? previewStart(source) : null;
  return {
    pictures: [
      { name: 'tiles', of: `v${smallest}`, filters: [dueTiles(source), tileScale(source)] },
      { name: 'sheet', of: 'tiles', filters: [SHEET] },
      { name: 'any', of: SOURCE, filters: [candidates(source), posterSize(source)] },
      { name: 'poster', of: 'any', filters: [BRIGHT_JPEG] },
      ...(fromSec === null ? [] : [{ name: 'moving', of: SOURCE, filters: moving(source, fromSec, rate) }]),
    ],
    outputs: [
      ...output('sheet', ['-fps_mode', 'passthrough', ...SHEET_QUALITY, `${IMAGES}/${sheetName('%03d')}`]),
      ...output('tiles', ['-fps_mode', 'passthrough', '-enc_time_base', sourceTimeBase]),
      ...['-f', 'framecrc', `${IMAGES}/${TIMES}`],
      ...output('any', [...POSTER_OUTPUT, `${IMAGES}/${ANY}`]),
      ...output('poster', [...POSTER_OUTPUT, `${IMAGES}/${POSTER}`]),
      ...(fromSec === null ? [] : output('moving', [...previewOutput(quality), `${IMAGES}/${PREVIEW}`])),
    ],
  };
}

function moving(source: SourceInfo, fromSec: number, rate: number): string[] {
  const cut = `trim=start=${fromSec.toFixed(3)}:end=${(fromSec + PREVIEW_SEC).toFixed(3)}`;
  return [cut, 'setpts=PTS-STARTPTS', `fps=${rate}`, previewSize(source)];
}

function output(pad: string, options: string[]): string[] {
  return ['-map', `[${pad}]`, '-map_metadata', '-1', '-threads', '1', ...options];
}

/** Returns a filter that selects a frame each second after the candidate positions of a poster. */
function candidates(source: SourceInfo): string {
  const last = Math.max(0, videoSpanOf(source).endSec - LAST_PICTURE_SEC);
  const spans = posterPlaces(source).map((place) => {
    const sec = Math.min(place, last);
    return `between(t\\,${sec.toFixed(3)}\\,${(sec + SEARCH_SEC).toFixed(3)})`;
  });
  const isDue = `(isnan(prev_selected_t)+gte(t-prev_selected_t\\,${CANDIDATE_SEC}))`;
  return `select=${isDue}*(${spans.join('+')})`;
}

/** Creates the image folder before the run. */
export async function makeImageFolder(outDir: string): Promise<void> {
  await mkdir(join(outDir, IMAGES));
}

/**
 * Creates the final image files from the output of the run; missing ones are created separately.
 *
 * @returns the names of the files in `<outDir>/img`.
 * @throws {MediaFileError} when not one frame can be decoded.
 */
export async function collectImages(
  tools: Tools,
  abilities: FfmpegCapabilities,
  run: TranscodeRun,
): Promise<string[]> {
  const outDir = join(run.outDir, IMAGES);
  const { input, source, signal } = run;
  const task: ImageTask = {
    tools,
    abilities,
    run: { input, source, signal, outDir, posterAtSec: null, storyboard: true },
  };
  await choosePoster(task);
  const times = createTimes();
  const written = await readOutput(outDir, TIMES, TIMES_MAX_BYTES);
  for (const line of written.toString('utf8').split('\n')) times.add(line);
  const storyboard = times.seconds.length === 0 ? [] : await writeStoryboard(outDir, times.seconds, source);
  const moving = abilities.canWriteWebp ? await choosePreview(task) : [];
  await rm(join(outDir, TIMES));
  await rm(join(outDir, ANY), { force: true });
  return [POSTER, ...storyboard, ...moving];
}

async function choosePoster(task: ImageTask): Promise<void> {
  if ((await sizeOf(task, POSTER)) > 0) return;
  const { outDir } = task.run;
  if ((await sizeOf(task, ANY)) > 0) await rename(join(outDir, ANY), join(outDir, POSTER));
  else await makePoster(task);
}

async function choosePreview(task: ImageTask): Promise<string[]> {
  const bytes = await sizeOf(task, PREVIEW);
  if (bytes > 0 && bytes <= PREVIEW_MAX_BYTES) return [PREVIEW];
  await rm(join(task.run.outDir, PREVIEW), { force: true });
  return makePreview(task, bytes === 0 ? PREVIEW_TRIES : PREVIEW_TRIES.slice(1));
}
