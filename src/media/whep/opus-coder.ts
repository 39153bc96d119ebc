import type { Writable } from 'node:stream';
import type { Logger } from '../../platform/logger.ts';
import { WebmReader } from '../bridges/webm-reader.ts';
import { liveGuard } from '../ffmpeg/guard.ts';
import { liveLimits } from '../ffmpeg/limits.ts';
import { spawnFfmpeg } from '../ffmpeg/process.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { FlvTagType, flvHeader, flvTag } from '../ingest/flv.ts';

/** Makes Opus of what an encoder sends by RTMP: WebRTC has no AAC. */
export interface OpusCoder {
  /** @param payload of a tag of sound, its header among them. */
  sound(ms: number, payload: Buffer): void;
  /** Resolves when it does no more. */
  readonly gone: Promise<unknown>;
  stop(): Promise<void>;
}

const STOP_GRACE_MS = 500;
/** What waits for a program that does not keep up; more is left out. */
const MOST_WAITING_BYTES = 2 ** 18;

/** @param onPacket packets of 20 milliseconds, on the same line of times. */
export async function startOpusCoder(
  { ffmpeg, log }: { ffmpeg: FfmpegProgram; log: Logger },
  onPacket: (ms: number, data: Buffer) => void,
): Promise<OpusCoder> {
  const program = await ffmpeg.guard.start(ffmpeg.bin, liveLimits(0), { reads: [], writes: null });
  const reader = new WebmReader(({ ms, data }) => onPacket(ms, data));
  const given = Promise.withResolvers<Writable>();
  const child = spawnFfmpeg({
    program,
    args: ARGS,
    log,
    input: given.resolve,
    onBytes: (bytes) => reader.push(bytes),
  });
  const stdin = await given.promise;
  stdin.write(flvHeader({ audio: true, video: false }));
  let isStopped = false;
  void child.exited.then(({ stderr }) => {
    if (!isStopped) log.warn({ stderr: stderr.slice(-500) }, 'the sound for viewers by WebRTC is not coded');
  });
  return {
    gone: child.exited,
    sound(ms, payload) {
      if (stdin.writableLength > MOST_WAITING_BYTES || stdin.destroyed) return;
      stdin.write(flvTag(FlvTagType.audio, ms, payload));
    },
    async stop() {
      isStopped = true;
      await child.stop(STOP_GRACE_MS);
    },
  };
}

const ARGS = [
  ...['-hide_banner', '-nostats', '-v', 'error', '-nostdin', '-analyzeduration', '200000'],
  ...['-fflags', 'nobuffer', '-copyts', ...liveGuard(null)],
  ...['-map', '0:a:0', '-af', 'aresample=async=1000', '-c:a', 'libopus', '-b:a', '128k'],
  ...['-ar', '48000', '-ac', '2', '-frame_duration', '20', '-avoid_negative_ts', 'disabled'],
  // A cluster for each packet: one that is not full yet is held back.
  ...['-f', 'webm', '-live', '1', '-cluster_time_limit', '0', '-flush_packets', '1', 'pipe:1'],
];
