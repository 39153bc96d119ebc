import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, dateFromMs } from '../../kernel/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { LIVE_DECODERS } from '../ffmpeg/codecs.ts';
import { inputGuard, type ProgramLimits } from '../ffmpeg/guard.ts';
import { openOutput, readOutput, UnsafeOutputError } from '../ffmpeg/output.ts';
import { spawnFfmpeg } from '../ffmpeg/process.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import type { Composer, LatestSegment } from './composer.ts';

/** File name of the thumbnail in the folder of a stream. */
export const THUMBNAIL_FILE = 'thumbnail.jpg';

interface Options {
  ffmpeg: FfmpegProgram;
  clock: Clock;
  log: Logger;
}

/** Thumbnail generator: one image of each stream every 30 seconds while segments arrive. */
export interface Thumbnails {
  /** Takes a thumbnail if one is due. @param dir of the stream. */
  look(dir: string, composer: Pick<Composer, 'latest'>): void;
  /** Renews the thumbnail early: viewers of a broadcast must not see an image from before it. */
  hurry(dir: string): void;
  /** Deletes the thumbnail when another publish begins; the next one is taken early. */
  forget(dir: string): Promise<void>;
}

const EVERY_MS = 30_000;
/** Time after which a segment that began after the call is finished. */
const HURRY_MS = 5000;
const LIMITS: ProgramLimits = { memoryBytes: 4 * 2 ** 30, cpuSec: 20, fileBytes: 2 ** 26 };
/** Maximum bytes of the input: a keyframe interval of the highest bitrate. */
const CLIP_MAX_BYTES = 2 ** 28;
const WIDTH = 640;
const PICTURE_FILE = '.thumbnail.jpg';

export function createThumbnails({ ffmpeg, clock, log }: Options): Thumbnails {
  /** Due times by folder. */
  const due = new Map<string, number>();

  const take = async (dir: string, { folder, initFile, file, startMs }: LatestSegment) => {
    const clip = join(dir, '.thumbnail.mp4');
    const picture = join(dir, PICTURE_FILE);
    try {
      const init = await readOutput(folder, initFile, CLIP_MAX_BYTES);
      await writeFile(clip, Buffer.concat([init, await readOutput(folder, file, CLIP_MAX_BYTES)]));
      // ffmpeg may write only this file of the folder.
      await writeFile(picture, '');
      const program = await ffmpeg.guard.start(ffmpeg.bin, LIMITS, { reads: [clip], writes: picture });
      const { code, stderr } = await spawnFfmpeg({ program, args: pictureArgs(clip, picture), log }).exited;
      if (code !== 0) throw new Error(stderr.trim().split('\n').at(-1) ?? 'ffmpeg failed');
      // The file time is the time of the frame: viewers of a broadcast must not see anything from before it.
      const made = await openOutput(dir, PICTURE_FILE);
      await made.utimes(dateFromMs(startMs), dateFromMs(startMs)).finally(() => made.close());
      await rename(picture, join(dir, THUMBNAIL_FILE));
    } finally {
      await Promise.all([clip, picture].map((path) => rm(path, { recursive: true, force: true })));
    }
  };

  return {
    look(dir, composer) {
      const now = clock.ms();
      if (now < (due.get(dir) ?? 0)) return;
      const latest = composer.latest();
      if (latest === null) return;
      due.set(dir, now + EVERY_MS);
      take(dir, latest).catch((error: unknown) => {
        const level = error instanceof UnsafeOutputError ? 'error' : 'debug';
        log[level]({ err: error, dir }, 'no thumbnail was created');
      });
    },
    hurry(dir) {
      const dueMs = due.get(dir);
      if (dueMs !== undefined) due.set(dir, Math.min(dueMs, clock.ms() + HURRY_MS));
    },
    async forget(dir) {
      due.delete(dir);
      await rm(join(dir, THUMBNAIL_FILE), { force: true });
    },
  };
}

function pictureArgs(clip: string, picture: string): string[] {
  return [
    ...['-v', 'error', '-nostdin', '-threads', '1', ...inputGuard(clip, LIVE_DECODERS)],
    ...['-map', '0:v:0', '-frames:v', '1', '-vf', `scale='min(${WIDTH},iw)':-2`],
    ...['-c:v', 'mjpeg', '-q:v', '5', '-pix_fmt', 'yuvj420p', '-f', 'mjpeg', '-y', `file:${picture}`],
  ];
}
