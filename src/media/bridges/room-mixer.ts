import type { Writable } from 'node:stream';
import type { Logger } from '../../platform/logger.ts';
import { roomMixGuard } from '../ffmpeg/guard.ts';
import { liveLimits } from '../ffmpeg/limits.ts';
import { type FfmpegProcess, spawnFfmpeg } from '../ffmpeg/process.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { FlvReader, type FlvTag } from '../protocols/flv/reader.ts';
import { PushError } from '../restream/failure.ts';
import { MAX_ACTIVE_SPEAKERS } from './room-audio-inputs.ts';
import { bytesOf, type Frame } from './room-canvas.ts';
import { mixCluster, mixHead, type VoiceBlock } from './room-matroska.ts';

export const FRAME_SIZE = { width: 1280, height: 720 };
export const FPS = 25;
/** Frames on their way to the encoder; further ones are dropped because it is behind. */
const MAX_QUEUED_FRAMES = 4;
const STOP_GRACE_MS = 1000;
const BITRATE_KBPS = 2500;

/** Only encoder of a room: its output is the signal of a stream. */
export interface RoomMixer {
  /** Returns memory for a frame; null while the encoder is behind. */
  take(): Frame | null;
  /** Writes the audio up to a moment, and its video frame. */
  write(atMs: number, voices: readonly VoiceBlock[], picture: Frame | null): void;
  /** Rejects when it ends by itself. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

export async function startRoomMixer(
  { ffmpeg, log, keyframeSec }: { ffmpeg: FfmpegProgram; log: Logger; keyframeSec: number },
  onTag: (tag: FlvTag) => void,
  onFlush: () => void,
): Promise<RoomMixer> {
  const program = await ffmpeg.guard.start(ffmpeg.bin, liveLimits(0), { reads: [], writes: null });
  const reader = new FlvReader(() => {}, onTag);
  const given = Promise.withResolvers<Writable>();
  const child: FfmpegProcess = spawnFfmpeg({
    program,
    args: mixerArgs(keyframeSec),
    log,
    input: given.resolve,
    onBytes(bytes) {
      reader.push(bytes);
      onFlush();
    },
  });
  const stdin = await given.promise;
  stdin.write(mixHead({ ...FRAME_SIZE, fps: FPS }, MAX_ACTIVE_SPEAKERS));
  const free: Frame[] = Array.from({ length: MAX_QUEUED_FRAMES }, () => ({
    ...FRAME_SIZE,
    pixels: Buffer.alloc(bytesOf(FRAME_SIZE)),
  }));
  let isStopped = false;
  const failed = child.exited.then(({ stderr }): never => {
    if (!isStopped) log.warn({ stderr: stderr.slice(-500) }, 'the encoder of a room ended');
    throw new PushError('normal', 'The video of the room could not be encoded.');
  });
  failed.catch(() => {});
  return {
    failed,
    take: () => free.pop() ?? null,
    write(atMs, voices, picture) {
      if (picture === null) {
        if (voices.length > 0) stdin.write(mixCluster(atMs, voices, null));
        return;
      }
      stdin.cork();
      stdin.write(mixCluster(atMs, voices, picture.pixels.length));
      stdin.write(picture.pixels, () => free.push(picture));
      stdin.uncork();
    },
    async stop() {
      isStopped = true;
      await child.stop(STOP_GRACE_MS);
    },
  };
}

function mixerArgs(keyframeSec: number): string[] {
  const voices = Array.from({ length: MAX_ACTIVE_SPEAKERS }, (_, index) => `[0:${index + 1}]`).join('');
  const mix = `${voices}amix=inputs=${MAX_ACTIVE_SPEAKERS}:normalize=0:duration=longest`;
  return [
    ...['-hide_banner', '-nostats', '-v', 'error', '-nostdin', '-analyzeduration', '0', '-copyts'],
    ...['-fpsprobesize', '0'],
    ...roomMixGuard(),
    ...['-filter_complex', `${mix},alimiter=level=disabled:limit=0.95[a]`],
    ...['-map', '0:v:0', '-map', '[a]', '-fps_mode', 'passthrough'],
    ...['-c:v', 'libx264', '-preset', 'superfast', '-tune', 'zerolatency', '-profile:v', 'main', '-bf', '0'],
    ...['-pix_fmt', 'yuv420p', '-threads', '2', '-sc_threshold', '0', '-g', String(keyframeSec * FPS)],
    ...['-force_key_frames', `expr:gte(t,n_forced*${keyframeSec})`],
    ...['-b:v', `${BITRATE_KBPS}k`, '-maxrate', `${BITRATE_KBPS}k`, '-bufsize', `${BITRATE_KBPS}k`],
    ...['-c:a', 'aac', '-b:a', '128k', '-ar', '48000', '-ac', '2'],
    ...['-f', 'flv', '-flvflags', 'no_duration_filesize', '-flush_packets', '1', 'pipe:1'],
  ];
}
