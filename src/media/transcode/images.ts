import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDiskTrouble } from '../../platform/disk.ts';
import { MediaFileError, type SourceInfo, type Transcoder } from '../contract/index.ts';
import type { FfmpegAbilities } from '../ffmpeg/check.ts';
import { inputGuard } from '../ffmpeg/guard.ts';
import { UnsafeOutput, writeOutput } from '../ffmpeg/output.ts';
import { lineReader } from '../ffmpeg/text.ts';
import { stillFilters } from './filters.ts';
import { encodeLimits } from './limits.ts';
import { runTool, type Tools } from './run.ts';
import { renderStoryboard, SHEET_TILES, sheetName, tileSize } from './storyboard.ts';

const POSTER = 'poster.jpg';
const POSTER_SIDE = 1280;
/** Where a poster is looked for, in shares of the duration. */
const POSTER_PLACES = [0.1, 0.3, 0.6];
/** Mean brightness of a picture that shows something; black is 16. */
const NOT_BLACK = 24;
const SEARCH_SEC = 5;
/** Behind the last picture there is none. */
const LAST_PICTURE_SEC = 0.5;
const TIMEOUT_MS = 120_000;

const TILES_MAX = 900;
const TILE_MIN_SEC = 2;
/** Keyframes far apart make a poor storyboard of a short video, of which all can be decoded. */
const SHORT_SEC = 600;
const TILES_ENOUGH = 10;

const PREVIEW = 'preview.webp';
const PREVIEW_SEC = 4;
const PREVIEW_MIN_SEC = 1;
const PREVIEW_SIDE = 320;
const PREVIEW_MAX_BYTES = 500_000;
/** Frames per second and quality: the first that is small enough is taken. */
const PREVIEW_TRIES = [
  { rate: 10, quality: 50 },
  { rate: 6, quality: 30 },
  { rate: 4, quality: 10 },
] as const;

type ImageRun = Parameters<Transcoder['images']>[0];

interface Task {
  tools: Tools;
  abilities: FfmpegAbilities;
  run: ImageRun;
}

/**
 * A storyboard or a preview that cannot be made is left out; a poster is always there.
 *
 * @returns the names of the files in `outDir`.
 * @throws {MediaFileError} when not one picture can be decoded.
 */
export async function makeImages(tools: Tools, abilities: FfmpegAbilities, run: ImageRun): Promise<string[]> {
  const task = { tools, abilities, run };
  await makePoster(task);
  if (!run.storyboard) return [POSTER];
  const storyboard = await makeStoryboard(task);
  const preview = abilities.canWriteWebp ? await makePreview(task) : [];
  run.onProgress?.(1);
  return [POSTER, ...storyboard, ...preview];
}

interface Place {
  /** Where reading begins. */
  sec: number;
  /** The first picture that these let pass. */
  filters: string[];
  /** Reads so far at most. */
  lengthSec?: number;
}

/** The asked picture, or one that shows something; else any. */
async function makePoster(task: Task): Promise<void> {
  const { posterAtSec, source } = task.run;
  const places = posterAtSec === null ? goodPlaces(source) : askedPlaces(source, posterAtSec);
  for (const place of [...places, { sec: 0, filters: [] }]) {
    if (await poster(task, place)) return;
  }
  throw new MediaFileError('CORRUPT_INPUT', 'No picture for the poster can be decoded.');
}

function goodPlaces({ durationSec }: SourceInfo): Place[] {
  const bright = `signalstats,metadata=select:key=lavfi.signalstats.YAVG:value=${NOT_BLACK}:function=greater`;
  const places = POSTER_PLACES.map((share) => share * durationSec);
  return [
    ...places.map((sec) => ({ sec, filters: [bright], lengthSec: SEARCH_SEC })),
    { sec: places[0] ?? 0, filters: [] },
  ];
}

function askedPlaces({ durationSec }: SourceInfo, atSec: number): Place[] {
  const sec = Math.max(0, Math.min(atSec, durationSec - LAST_PICTURE_SEC));
  return [
    { sec, filters: [] },
    // Some files, such as FLV without an index, cannot be entered in the middle.
    { sec: 0, filters: [`select=gte(t\\,${sec.toFixed(3)})`] },
  ];
}

async function poster(task: Task, { sec, filters, lengthSec }: Place): Promise<boolean> {
  const { source } = task.run;
  const chain = [...filters, ...stills(task), scaleTo(source, POSTER_SIDE)];
  await ffmpeg(task, {
    input: seek(source, sec, lengthSec ?? null),
    output: ['-vf', chain.join(','), '-frames:v', '1', '-q:v', '3', '-f', 'mjpeg', POSTER],
  });
  return (await sizeOf(task, POSTER)) > 0;
}

/** Sheets of small pictures, one every few seconds, and where and when each is. */
async function makeStoryboard(task: Task): Promise<string[]> {
  const { source, outDir } = task.run;
  const byKeyframes = await tiles(task, ['-skip_frame', 'nokey']);
  const wanted = Math.min(TILES_ENOUGH, source.durationSec / TILE_MIN_SEC);
  const isPoor = byKeyframes.length < wanted && source.durationSec <= SHORT_SEC;
  const times = isPoor ? await tiles(task, []) : byKeyframes;
  if (times.length === 0) return [];
  const vtt = renderStoryboard(times, source.durationSec, tileSize(source.video));
  await writeOutput(outDir, 'storyboard.vtt', vtt);
  const sheets = (await readdir(outDir)).filter((name) => /^sb_\d+\.jpg$/.test(name)).toSorted();
  return ['storyboard.vtt', ...sheets];
}

/** @returns when each tile is shown, in seconds; none when it failed. */
async function tiles(task: Task, decoderOptions: string[]): Promise<number[]> {
  const { source } = task.run;
  const { durationSec } = source;
  const everySec = Math.max(Math.min(TILE_MIN_SEC, durationSec / TILES_ENOUGH), durationSec / TILES_MAX);
  const { width, height } = tileSize(source.video);
  // A keyframe that comes a little early is as good.
  const due = `isnan(prev_selected_t)+gte(t-prev_selected_t\\,${(everySec * 0.98).toFixed(3)})`;
  const small = [`select=${due}`, ...stills(task), `scale=${width}:${height},format=yuvj420p,setsar=1`];
  const sheet = `tile=${SHEET_TILES.columns}x${SHEET_TILES.rows}`;
  const times: number[] = [];
  let tickSec = 0;
  const isDone = await ffmpeg(task, {
    input: [...decoderOptions, ...fromZero(source)],
    filters: `[0:${source.video.streamIndex}]${small.join(',')},split[a][b];[a]${sheet}[sheet]`,
    output: [
      ...['-map', '[sheet]', '-fps_mode', 'passthrough', '-q:v', '5', sheetName('%03d')],
      ...['-map', '[b]', '-fps_mode', 'passthrough', '-f', 'framecrc'],
      ...['-enc_time_base', task.abilities.sourceTimeBase, '-'],
    ],
    onLine: (line) => {
      const base = /^#tb 0: (\d+)\/(\d+)/.exec(line);
      if (base) tickSec = Number(base[1]) / Number(base[2]);
      else if (!line.startsWith('#')) times.push(Number(line.split(',')[2]) * tickSec);
    },
  });
  return isDone ? times : [];
}

/** A few moving seconds for lists of videos. */
async function makePreview(task: Task): Promise<string[]> {
  const { durationSec } = task.run.source;
  if (durationSec < PREVIEW_MIN_SEC) return [];
  let startSec = Math.max(0, Math.min(durationSec * 0.2, durationSec - PREVIEW_SEC));
  for (const { rate, quality } of PREVIEW_TRIES) {
    let bytes = await preview(task, startSec, rate, quality);
    if (bytes === 0 && startSec > 0) {
      startSec = 0;
      bytes = await preview(task, startSec, rate, quality);
    }
    if (bytes > 0 && bytes <= PREVIEW_MAX_BYTES) return [PREVIEW];
    await rm(join(task.run.outDir, PREVIEW), { force: true });
  }
  return [];
}

/** @returns its size; 0 when it could not be made. */
async function preview(task: Task, startSec: number, rate: number, quality: number): Promise<number> {
  const { source } = task.run;
  const filters = [`fps=${rate}`, ...stills(task), scaleTo(source, PREVIEW_SIDE)];
  const isDone = await ffmpeg(task, {
    input: [...seek(source, startSec, PREVIEW_SEC)],
    output: [
      ...['-vf', filters.join(','), '-c:v', 'libwebp_anim', '-quality', String(quality)],
      ...['-loop', '0', '-f', 'webp', PREVIEW],
    ],
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
async function ffmpeg(task: Task, command: ImageCommand): Promise<boolean> {
  const { tools, run } = task;
  const { filters, onLine } = command;
  const source =
    filters === undefined ? ['-map', `0:${run.source.video.streamIndex}`] : ['-filter_complex', filters];
  try {
    await runTool(tools, {
      program: 'ffmpeg',
      cwd: run.outDir,
      args: [
        // Keyframes alone are half of what a decoder wants: its complaints are no reason to give up.
        ...['-nostdin', '-y', '-v', 'error', '-max_error_rate', '1', '-threads', String(tools.threads)],
        ...[...command.input, ...inputGuard(run.input), ...source],
        ...['-map_metadata', '-1', ...command.output],
      ],
      limits: encodeLimits(run.source, []),
      signal: run.signal,
      timeoutMs: Math.max(TIMEOUT_MS, run.source.durationSec * 1000),
      ...(onLine ? { onOutput: lineReader(onLine) } : {}),
    });
    return true;
  } catch (error) {
    if (run.signal.aborted || isDiskTrouble(error) || error instanceof UnsafeOutput) throw error;
    return false;
  }
}

async function sizeOf({ run }: Task, name: string): Promise<number> {
  return lstat(join(run.outDir, name)).then(
    ({ size }) => size,
    () => 0,
  );
}

function stills({ run, abilities }: Task): string[] {
  return stillFilters(run.source, abilities.canToneMap);
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

/** At most so many pixels on the longer side, and never more than there are. */
function scaleTo({ video }: SourceInfo, side: number): string {
  const scale = Math.min(1, side / Math.max(video.width, video.height));
  const size = [video.width, video.height].map((value) => Math.max(2, Math.round((value * scale) / 2) * 2));
  return `scale=${size.join(':')}:flags=bicubic,setsar=1`;
}
