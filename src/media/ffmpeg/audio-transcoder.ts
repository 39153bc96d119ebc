import type { Writable } from 'node:stream';
import type { Logger } from '../../platform/logger.ts';
import { liveLimits } from './limits.ts';
import { spawnFfmpeg } from './process.ts';
import type { FfmpegProgram } from './program.ts';

/** Sandboxed ffmpeg that re-encodes audio as it arrives. */
export interface AudioTranscoder {
  /** Left out while the program does not keep up. */
  write(bytes: Buffer): void;
  /** Resolves when it has ended. */
  readonly gone: Promise<unknown>;
  stop(): Promise<void>;
}

interface AudioTranscoderOptions {
  /** How its input is read: the last of it is the guard. */
  input: readonly string[];
  /** Encoder and container options of the output, which is stereo at 48 kHz. */
  output: readonly string[];
  onBytes(bytes: Buffer): void;
  /** Logged when it ends by itself. */
  complaint: string;
}

const STOP_GRACE_MS = 500;
/** Bytes buffered for a program that does not keep up. */
const MAX_QUEUED_BYTES = 2 ** 18;

/** Starts it, and keeps the timestamps of the written audio continuous. */
export async function startAudioTranscoder(
  { ffmpeg, log }: { ffmpeg: FfmpegProgram; log: Logger },
  { input, output, onBytes, complaint }: AudioTranscoderOptions,
): Promise<AudioTranscoder> {
  const program = await ffmpeg.guard.start(ffmpeg.bin, liveLimits(0), { reads: [], writes: null });
  const given = Promise.withResolvers<Writable>();
  const args = [
    ...['-hide_banner', '-nostats', '-v', 'error', '-nostdin', '-fflags', 'nobuffer', '-copyts', ...input],
    ...['-map', '0:a:0', '-af', 'aresample=async=1000', '-ar', '48000', '-ac', '2', ...output],
    ...['-flush_packets', '1', 'pipe:1'],
  ];
  const child = spawnFfmpeg({ program, args, log, input: given.resolve, onBytes });
  const stdin = await given.promise;
  let isStopped = false;
  void child.exited.then(({ stderr }) => {
    if (!isStopped) log.warn({ stderr: stderr.slice(-500) }, complaint);
  });
  return {
    gone: child.exited,
    write(bytes) {
      if (stdin.writableLength <= MAX_QUEUED_BYTES && !stdin.destroyed) stdin.write(bytes);
    },
    async stop() {
      isStopped = true;
      await child.stop(STOP_GRACE_MS);
    },
  };
}
