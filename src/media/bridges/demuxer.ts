import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Logger } from '../../platform/logger.ts';
import { sourceGuard } from '../ffmpeg/guard.ts';
import { liveLimits } from '../ffmpeg/limits.ts';
import { type FfmpegExit, spawnFfmpeg } from '../ffmpeg/process.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { timeRead } from '../longest-read.ts';
import { FlvReader, type FlvTag } from '../protocols/flv/reader.ts';
import { PushError } from '../restream/failure.ts';

/** Container formats of sources. */
export type SourceFormat = 'mpegts' | 'mp4' | 'aac';

/** One ffmpeg that copies the tracks out of a container: it has no network, and knows no address. */
export interface Demux {
  /** Resolves when more can be written. @throws {PushError} after a failure. */
  write(bytes: Buffer): Promise<void>;
  /** Signals the end of the input. @throws {PushError} when it could not be read. */
  end(): Promise<void>;
  stop(): Promise<void>;
  /** Rejects when it ends before its input does. */
  readonly failed: Promise<never>;
}

export type Demuxer = (
  format: SourceFormat,
  onTag: (tag: FlvTag) => void,
  onFlush: () => void,
) => Promise<Demux>;

const STOP_GRACE_MS = 500;
/** Time to finish after the end of input: ffmpeg only copies, so little is pending. */
const END_MS = 10_000;
/** Longest wait for ffmpeg to write a tag: a damaged input can occupy it. */
const WRITE_MS = 10_000;

export function createDemuxer(open: () => Promise<FfmpegProgram>, log: Logger): Demuxer {
  return async (format, onTag, onFlush) => {
    const ffmpeg = await open();
    const program = await ffmpeg.guard.start(ffmpeg.bin, liveLimits(0), { reads: [], writes: null });
    const given = Promise.withResolvers<Writable>();
    let tags = 0;
    const reader = new FlvReader(
      () => {},
      (tag) => {
        tags += 1;
        onTag(tag);
      },
    );
    const onBytes = (bytes: Buffer) =>
      timeRead(
        () => `${format} of a source`,
        () => {
          reader.push(bytes);
          onFlush();
        },
      );
    const args = demuxerArgs(format);
    const child = spawnFfmpeg({ program, args, log, input: given.resolve, onBytes });
    const stdin = await given.promise;
    const failed = child.exited.then((exit): never => {
      throw demuxFailure(exit);
    });
    failed.catch(() => {});
    return {
      failed,
      async write(bytes) {
        if (stdin.write(bytes)) return;
        const late = AbortSignal.timeout(WRITE_MS);
        await Promise.race([once(stdin, 'drain', { signal: late }).catch(tooSlow), failed]);
      },
      async end() {
        stdin.end();
        const timer = setTimeout(() => void child.stop(STOP_GRACE_MS), END_MS);
        const exit = await child.exited;
        clearTimeout(timer);
        if (exit.code !== 0 || tags === 0) throw demuxFailure(exit);
      },
      stop: async () => void (await child.stop(STOP_GRACE_MS)),
    };
  };
}

function tooSlow(): never {
  throw new PushError('normal', 'Reading the media of the source timed out.');
}

function demuxerArgs(format: SourceFormat): string[] {
  return [
    ...['-hide_banner', '-nostats', '-v', 'info', '-nostdin', '-fflags', '+genpts'],
    ...['-analyzeduration', '2000000', '-probesize', '5000000', '-fpsprobesize', '0', '-copyts'],
    ...sourceGuard(format),
    ...['-map', '0:v:0?', '-map', '0:a:0?', '-c', 'copy', '-max_muxing_queue_size', '2048'],
    ...['-f', 'flv', '-flvflags', 'no_duration_filesize', '-flush_packets', '1', 'pipe:1'],
  ];
}

const CODED = 'Encode it as H.264 with AAC.';

/** Maps the exit of ffmpeg and its output to the reason the input could not be read. */
export function demuxFailure({ stderr, spawnError, signal, code }: FfmpegExit): PushError {
  if (spawnError !== undefined) return new PushError('normal', 'ffmpeg could not be started.');
  const unfit = /codec (\S+) not compatible with flv/i.exec(stderr)?.[1];
  if (unfit !== undefined) {
    return new PushError('fatal', `The source uses ${unfit}, which is not supported. ${CODED}`);
  }
  const shut = /Codec \((\S+)\) not on whitelist/i.exec(stderr)?.[1];
  if (shut !== undefined) {
    return new PushError('fatal', `The source uses ${shut}, which is not supported. ${CODED}`);
  }
  if (/Invalid data found|does not contain any stream|matches no streams/i.test(stderr)) {
    return new PushError('normal', 'The source sent no readable media.');
  }
  const last = stderr.trim().split('\n').at(-1)?.slice(0, 160) ?? '';
  return new PushError(
    'normal',
    `The media of the source could not be read: ${last === '' ? (signal ?? `code ${code}`) : last}.`,
  );
}
