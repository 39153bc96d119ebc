import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDiskError } from '../../platform/disk.ts';
import { MediaFileError, type SourceInfo, type Transcoder } from '../contract/index.ts';
import type { FfmpegCapabilities } from '../ffmpeg/check.ts';
import { inputGuard } from '../ffmpeg/guard.ts';
import { UnsafeOutputError, writeOutput } from '../ffmpeg/output.ts';
import { lineReader } from '../ffmpeg/text.ts';
import {
  BRIGHT,
  dueTiles,
  LAST_PICTURE_SEC,
  POSTER,
  POSTER_OUTPUT,
  PREVIEW,
  PREVIEW_MAX_BYTES,
  PREVIEW_SEC,
  PREVIEW_TRIES,
  type PreviewTry,
  posterPlaces,
  posterSize,
  previewOutput,
  previewSize,
  previewStart,
  SEARCH_SEC,
  SHEET,
  SHEET_QUALITY,
  TILE_MIN_SEC,
  TILES_ENOUGH,
  tileScale,
  videoSpanOf,
} from './image-filters.ts';
import { encodeLimits } from './limits.ts';
import { runTool, type Tools } from './run.ts';
import { decoderOptions, sourceFilters, toneMap } from './source-filters.ts';
import { renderStoryboard, sheetName, tileSize } from './storyboard.ts';

const TIMEOUT_MS = 120_000;

/** Maximum duration for a storyboard from all frames, when keyframes are too far apart. */
const SHORT_SEC = 600;

type ImageRun = Parameters<Transcoder['images']>[0];

export interface ImageTask {
  tools: Tools;
  abilities: FfmpegCapabilities;
  run: ImageRun;
}

/**
 * Creates the images. A storyboard or preview that fails is left out; the poster is always present.
 *
 * @returns the names of the files in `outDir`.
 * @throws {MediaFileError} when not one frame can be decoded.
 */
export async function makeImages(
  tools: Tools,
  abilities: FfmpegCapabilities,
  run: ImageRun,
): Promise<string[]> {
  const task = { tools, abilities, run };
  await makePoster(task);
  if (!run.storyboard) return [POSTER];
  const storyboard = await makeStoryboard(task);
  const preview = abilities.canWriteWebp ? await makePreview(task) : [];
  run.onProgress?.(1);
  return [POSTER, ...storyboard, ...preview];
}

interface Place {
  /** Start of reading. */
  sec: number;
  /** Filters; the first frame that passes is used. */
  filters: string[];
  /** Maximum length to read. */
  lengthSec?: number;
}

/** Creates the poster: the requested frame, or one that is not black; otherwise any. */
export async function makePoster(task: ImageTask): Promise<void> {
  const { posterAtSec, source } = task.run;
  const places = posterAtSec === null ? goodPlaces(source) : askedPlaces(source, posterAtSec);
  for (const place of [...places, { sec: 0, filters: [] }]) {
    if (await poster(task, place)) return;
  }
  throw new MediaFileError('CORRUPT_INPUT', 'No frame for the poster can be decoded.');
}

function goodPlaces(source: SourceInfo): Place[] {
  const places = posterPlaces(source);
  return [
    ...places.map((sec) => ({ sec, filters: [BRIGHT], lengthSec: SEARCH_SEC })),
    { sec: places[0] ?? 0, filters: [] },
  ];
}

function askedPlaces(source: SourceInfo, atSec: number): Place[] {
  const sec = Math.max(0, Math.min(atSec, videoSpanOf(source).endSec - LAST_PICTURE_SEC));
  return [
    { sec, filters: [] },
    // Some files, such as FLV without an index, do not support random access.
    { sec: 0, filters: [`select=gte(t\\,${sec.toFixed(3)})`] },
  ];
}

async function poster(task: ImageTask, { sec, filters, lengthSec }: Place): Promise<boolean> {
  const { source } = task.run;
  const chain = [...sourceFilters(source), ...filters, ...colors(task), posterSize(source)];
  await ffmpeg(task, {
    input: seek(source, sec, lengthSec ?? null),
    output: ['-vf', chain.join(','), ...POSTER_OUTPUT, POSTER],
  });
  return (await sizeOf(task, POSTER)) > 0;
}

/** Creates sheets of thumbnails, one every few seconds, and an index of their times and positions. */
async function makeStoryboard(task: ImageTask): Promise<string[]> {
  const { source, outDir } = task.run;
  const byKeyframes = await tiles(task, ['-skip_frame', 'nokey']);
  const wanted = Math.min(TILES_ENOUGH, source.durationSec / TILE_MIN_SEC);
  const isPoor = byKeyframes.length < wanted && source.durationSec <= SHORT_SEC;
  const times = isPoor ? await tiles(task, []) : byKeyframes;
  if (times.length === 0) return [];
  return writeStoryboard(outDir, times, source);
}

/** Writes the index of existing sheets. @returns the names of all files of the storyboard. */
export async function writeStoryboard(
  outDir: string,
  times: readonly number[],
  { durationSec, video }: SourceInfo,
): Promise<string[]> {
  await writeOutput(outDir, 'storyboard.vtt', renderStoryboard(times, durationSec, tileSize(video)));
  const sheets = (await readdir(outDir)).filter((name) => /^sb_\d+\.jpg$/.test(name)).toSorted();
  return ['storyboard.vtt', ...sheets];
}

/** @returns the time of each tile, in seconds; an empty list on failure. */
async function tiles(task: ImageTask, decoderOptions: string[]): Promise<number[]> {
  const { source } = task.run;
  const small = [dueTiles(source), ...sourceFilters(source), ...colors(task), tileScale(source)];
  const times = createTimes();
  const isDone = await ffmpeg(task, {
    input: [...decoderOptions, ...fromZero(source)],
    filters: `[0:${source.video.streamIndex}]${small.join(',')},split[a][b];[a]${SHEET}[sheet]`,
    output: [
      ...['-map', '[sheet]', '-fps_mode', 'passthrough', ...SHEET_QUALITY, sheetName('%03d')],
      ...['-map', '[b]', '-fps_mode', 'passthrough', '-f', 'framecrc'],
      ...['-enc_time_base', task.abilities.sourceTimeBase, '-'],
    ],
    onLine: times.add,
  });
  return isDone ? times.seconds : [];
}

/** Parses the output of ffmpeg's framecrc muxer for one track into presentation times. */
export function createTimes(): { seconds: number[]; add(line: string): void } {
  const seconds: number[] = [];
  let tickSec = 0;
  return {
    seconds,
    add(line) {
      const base = /^#tb 0: (\d+)\/(\d+)/.exec(line);
      if (base) tickSec = Number(base[1]) / Number(base[2]);
      else if (line !== '' && !line.startsWith('#')) seconds.push(Number(line.split(',')[2]) * tickSec);
    },
  };
}

/** Creates an animation of a few seconds for lists of videos. */
export async function makePreview(
  task: ImageTask,
  tries: readonly PreviewTry[] = PREVIEW_TRIES,
): Promise<string[]> {
  const startSec = previewStart(task.run.source);
  if (startSec === null) return [];
  for (const one of tries) {
    const bytes = await preview(task, startSec, one);
    if (bytes > 0 && bytes <= PREVIEW_MAX_BYTES) return [PREVIEW];
    await rm(join(task.run.outDir, PREVIEW), { force: true });
    // Only a preview that is too large is created again, smaller.
    if (bytes === 0) return [];
  }
  return [];
}

/** @returns its size; 0 on failure. */
async function preview(task: ImageTask, startSec: number, { rate, quality }: PreviewTry): Promise<number> {
  const { source } = task.run;
  const filters = [`fps=${rate}`, ...sourceFilters(source), ...colors(task), previewSize(source)];
  const isDone = await ffmpeg(task, {
    input: [...seek(source, startSec, PREVIEW_SEC)],
    output: ['-vf', filters.join(','), ...previewOutput(quality), PREVIEW],
  });
  return isDone ? sizeOf(task, PREVIEW) : 0;
}

interface ImageCommand {
  /** Options before the guarded input. */
  input: string[];
  filters?: string;
  output: string[];
  onLine?: (line: string) => void;
}

/**
 * @returns false when it failed on the file.
 * @throws when the disk is full, the run was aborted or the program was taken over.
 */
async function ffmpeg(task: ImageTask, command: ImageCommand): Promise<boolean> {
  const { tools, run } = task;
  const { filters, onLine } = command;
  const source =
    filters === undefined ? ['-map', `0:${run.source.video.streamIndex}`] : ['-filter_complex', filters];
  try {
    await runTool(tools, {
      program: 'ffmpeg',
      cwd: run.outDir,
      args: [
        // Decoding only keyframes causes decoder errors, which are ignored.
        ...['-nostdin', '-y', '-v', 'error', '-max_error_rate', '1', '-threads', String(tools.threads)],
        ...[...command.input, ...decoderOptions(run.source), ...inputGuard(run.input), ...source],
        ...['-map_metadata', '-1', ...command.output],
      ],
      limits: encodeLimits(run.source, []),
      signal: run.signal,
      timeoutMs: Math.max(TIMEOUT_MS, run.source.durationSec * 1000),
      ...(onLine ? { onOutput: lineReader(onLine) } : {}),
    });
    return true;
  } catch (error) {
    if (run.signal.aborted || isDiskError(error) || error instanceof UnsafeOutputError) throw error;
    return false;
  }
}

/** Returns the size of an output file; 0 when it is missing. */
export async function sizeOf({ run }: Pick<ImageTask, 'run'>, name: string): Promise<number> {
  return lstat(join(run.outDir, name)).then(
    ({ size }) => size,
    () => 0,
  );
}

function colors({ run, abilities }: ImageTask): string[] {
  return toneMap(run.source, abilities.canToneMap);
}

function fromZero({ zeroSec }: SourceInfo): string[] {
  return zeroSec > 0 ? ['-itsoffset', (-zeroSec).toFixed(6)] : [];
}

function seek({ zeroSec }: SourceInfo, atSec: number, lengthSec: number | null): string[] {
  return [
    ...(atSec > 0 ? ['-ss', (atSec + zeroSec).toFixed(3)] : []),
    ...(lengthSec === null ? [] : ['-t', String(lengthSec)]),
  ];
}
