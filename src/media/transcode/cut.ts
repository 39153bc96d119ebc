import { constants } from 'node:fs';
import { join } from 'node:path';
import { MAX_DURATION_SEC } from '../../kernel/plans.ts';
import { isDiskError } from '../../platform/disk.ts';
import type { VideoCutter } from '../contract/index.ts';
import { FILE_DECODERS } from '../ffmpeg/codecs.ts';
import { concatGuard, inputGuard } from '../ffmpeg/guard.ts';
import { openOutput, UnsafeOutputError, writeOutput } from '../ffmpeg/output.ts';
import { trimByEditList } from './edit-list.ts';
import { runTool, type Tools } from './run.ts';
import { decoderOptions, sourceFilters } from './source-filters.ts';

export type VideoCutterOptions = Omit<Tools, 'stallMs'>;

const STALL_MS = 120_000;
const GB = 2 ** 30;
const LIMITS = { memoryBytes: 8 * GB, cpuSec: 20 * MAX_DURATION_SEC, fileBytes: 1024 * GB };
/** Pictures are stored in the order of decoding: what is shown before the end may come after it. */
const MORE_SEC = 1;
/** The copy began later than it should: at the next keyframe, where a container has no index. */
const LATE_SEC = 0.1;
/** A container without an index is read from so much before, and what is too early is decoded and dropped. */
const BEFORE_SEC = 15;
/** What MP4 cannot hold (ProRes, PCM), QuickTime can. */
const COPIES = ['mp4', 'mov'] as const;

type Cut = Omit<Parameters<VideoCutter['cut']>[0], 'input'>;
/** What ffmpeg is told of its input, and which files that names. */
type Input = { args: string[]; reads: readonly string[] };

/** Pieces of videos, exact to the frame (docs/decisions/clips.md). */
export function createVideoCutter(options: VideoCutterOptions): VideoCutter {
  const tools: Tools = { ...options, stallMs: STALL_MS };
  return {
    async cut({ input, ...run }) {
      // An edit list is of one file.
      if (typeof input !== 'string') return encoded(tools, run, await listOf(run.dir, input));
      for (const format of COPIES) {
        const path = await copied(tools, { ...run, input }, format);
        if (path !== null) return path;
      }
      const decoder = run.source === undefined ? [] : decoderOptions(run.source);
      return encoded(tools, run, { args: [...decoder, ...inputGuard(input)], reads: [] });
    },
  };
}

/** @returns null when the container cannot hold the tracks, or they do not begin where they should. */
async function copied(
  tools: Tools,
  run: Cut & { input: string },
  format: (typeof COPIES)[number],
): Promise<string | null> {
  const { input, startSec, durationSec, dir } = run;
  const name = `cut.${format}`;
  const args = [
    ...['-ss', seconds(startSec), ...inputGuard(input), '-t', seconds(durationSec + MORE_SEC)],
    ...['-c', 'copy', '-f', format, `file:${join(dir, name)}`],
  ];
  try {
    await runFfmpeg(tools, run, { args, isUrgent: true });
  } catch (error) {
    if (run.signal.aborted || isDiskError(error) || error instanceof UnsafeOutputError) throw error;
    return null;
  }
  const file = await openOutput(dir, name, constants.O_RDWR);
  try {
    const lateSec = await trimByEditList(file, durationSec);
    return lateSec === null || lateSec > LATE_SEC ? null : join(dir, name);
  } finally {
    await file.close();
  }
}

/** Files that come one after the other. */
async function listOf(dir: string, files: readonly { path: string; durationSec: number }[]): Promise<Input> {
  const name = 'files.ffconcat';
  const lines = files.flatMap(({ path, durationSec }) => [
    `file 'file:${path.replaceAll("'", "'\\''")}'`,
    `duration ${seconds(durationSec)}`,
  ]);
  await writeOutput(dir, name, `${['ffconcat version 1.0', ...lines].join('\n')}\n`);
  const args = concatGuard(join(dir, name), 'mov,mp4', FILE_DECODERS);
  return { args, reads: files.map(({ path }) => path) };
}

async function encoded(tools: Tools, run: Cut, { args: input, reads }: Input): Promise<string> {
  const { startSec, durationSec, dir } = run;
  const path = join(dir, 'encoded.mp4');
  const beforeSec = Math.min(startSec, BEFORE_SEC);
  const filters = run.source === undefined ? [] : sourceFilters(run.source);
  const args = [
    ...['-ss', seconds(startSec - beforeSec), ...input],
    ...['-ss', seconds(beforeSec), '-t', seconds(durationSec)],
    ...(filters.length === 0 ? [] : ['-vf', filters.join()]),
    // Close to the source: the renditions are encoded from this once more.
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '16', '-threads', String(tools.threads)],
    ...['-c:a', 'aac', '-b:a', '256k', '-f', 'mp4', `file:${path}`],
  ];
  // It may take as long as an upload of the whole: it makes way as those do.
  await runFfmpeg(tools, run, { args, reads, isUrgent: false });
  return path;
}

/** The pictures, and every track of sound; no cover art, no data. */
function tracks({ source }: Cut): string[] {
  const video = source === undefined ? '0:V:0' : `0:${source.video.streamIndex}`;
  return ['-map', video, '-map', '0:a?', '-map_chapters', '-1'];
}

async function runFfmpeg(
  tools: Tools,
  run: Cut,
  { args, reads = [], isUrgent }: { args: readonly string[]; reads?: readonly string[]; isUrgent: boolean },
): Promise<void> {
  const { dir, signal } = run;
  const output = args.slice(args.indexOf('-i') + 2);
  const input = args.slice(0, args.indexOf('-i') + 2);
  await runTool(tools, {
    program: 'ffmpeg',
    cwd: dir,
    args: ['-v', 'error', '-nostdin', '-y', ...input, ...tracks(run), ...output],
    reads,
    limits: { ...LIMITS, isUrgent },
    signal,
    // The progress callback makes sure that it is killed when it stalls.
    onProgress: () => {},
  });
}

function seconds(value: number): string {
  return Math.max(0, value).toFixed(6);
}
