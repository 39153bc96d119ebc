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
/**
 * Margin for frame reordering: frames are stored in decoding order, so a frame shown before the end may be
 * stored after it.
 */
const MORE_SEC = 1;
/** Maximum delay of the start of a copy, which is late at the next keyframe when a container has no index. */
const LATE_SEC = 0.1;
/**
 * Lead for containers without an index: reading begins earlier, and the extra frames are decoded and dropped.
 */
const BEFORE_SEC = 15;
/** Containers for a copy: QuickTime can hold codecs that MP4 cannot (ProRes, PCM). */
const COPIES = ['mp4', 'mov'] as const;

type Cut = Omit<Parameters<VideoCutter['cut']>[0], 'input'>;
/** Input arguments of ffmpeg, and the files they name. */
type Input = { args: string[]; reads: readonly string[] };

/** Creates the cutter for frame-accurate clips of videos (docs/decisions/clips.md). */
export function createVideoCutter(options: VideoCutterOptions): VideoCutter {
  const tools: Tools = { ...options, stallMs: STALL_MS };
  return {
    async cut({ input, ...run }) {
      // An edit list applies to a single file.
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

/** @returns null when the container cannot hold the tracks, or they begin at the wrong time. */
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

/** Writes a list of consecutive files. */
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
    // High quality, because the renditions are encoded from this file.
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '16', '-threads', String(tools.threads)],
    ...['-c:a', 'aac', '-b:a', '256k', '-f', 'mp4', `file:${path}`],
  ];
  // The run may take as long as the encoding of a whole upload, and yields to other work as that does.
  await runFfmpeg(tools, run, { args, reads, isUrgent: false });
  return path;
}

/** Returns the arguments that select the video and all audio tracks, without cover art and data. */
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
