import type { Writable } from 'node:stream';
import type { Logger } from '../../platform/logger.ts';
import { roomVideoGuard } from '../ffmpeg/guard.ts';
import { liveLimits } from '../ffmpeg/limits.ts';
import { type FfmpegProcess, spawnFfmpeg } from '../ffmpeg/process.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { fit } from '../rooms/compose/graph.ts';
import type { Box } from '../rooms/compose/layout.ts';
import { bytesOf, type Frame, type PositionedFrame } from './room-canvas.ts';

/** Shape a camera sends: frame size and rotation. */
export interface CameraShape {
  width: number;
  height: number;
  degrees: 0 | 90 | 180 | 270;
}

export interface DecoderOptions {
  ffmpeg: FfmpegProgram;
  shape: CameraShape;
  tile: Box & { isWhole: boolean };
  log: Logger;
}

/** Limit of bytes waiting for a decoder; one that far behind is sent no more until it has caught up. */
const MAX_WAITING_BYTES = 4 * 2 ** 20;
const STOP_GRACE_MS = 500;
const IVF_FILE_BYTES = 32;
const IVF_FRAME_BYTES = 12;

/** ffmpeg that decodes VP8 to pixels, scaled to the size of its tile. */
export class VideoDecoder {
  /** Newest frame and its position; null before the first. */
  latest: PositionedFrame | null = null;
  /** The decoder has ended or lost a frame: a keyframe and a new decoder are needed. */
  isBroken = false;
  readonly #at: Box & { filters: string[] };
  readonly #spare: Frame[] = [];
  readonly #starting: Promise<void>;
  #child: FfmpegProcess | null = null;
  #stdin: Writable | null = null;
  #waiting: Buffer[] = [];
  #filling: { frame: Frame; bytes: number } | null = null;
  #count = 0;
  #isStopped = false;

  constructor(options: DecoderOptions) {
    this.#at = fit(options.tile, options.shape);
    this.#waiting.push(ivfHead(options.shape));
    this.#starting = this.#start(options).catch((error: unknown) => {
      this.isBroken = true;
      options.log.warn({ err: error }, 'a camera of a room cannot be decoded');
    });
  }

  /** Decodes a frame; frames come in order, a keyframe first. */
  frame(data: Buffer): void {
    if (this.isBroken || this.#isStopped) return;
    const head = Buffer.alloc(IVF_FRAME_BYTES);
    head.writeUInt32LE(data.length, 0);
    head.writeUInt32LE(this.#count, 4);
    this.#count += 1;
    if (this.#stdin === null) {
      this.#waiting.push(head, data);
      return;
    }
    if (this.#stdin.writableLength > MAX_WAITING_BYTES) {
      this.isBroken = true;
      return;
    }
    this.#stdin.write(Buffer.concat([head, data]));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#starting;
    await this.#child?.stop(STOP_GRACE_MS);
  }

  async #start({ ffmpeg, log }: DecoderOptions): Promise<void> {
    const program = await ffmpeg.guard.start(ffmpeg.bin, liveLimits(0), { reads: [], writes: null });
    if (this.#isStopped) return;
    const child = spawnFfmpeg({
      program,
      args: decoderArgs(this.#at.filters),
      log,
      input: (stdin) => {
        this.#stdin = stdin;
        stdin.write(Buffer.concat(this.#waiting));
        this.#waiting = [];
      },
      onBytes: (bytes) => this.#read(bytes),
    });
    this.#child = child;
    void child.exited.then(({ stderr }) => {
      if (!this.#isStopped) log.warn({ stderr: stderr.slice(-300) }, 'the decoder of a camera ended');
      this.isBroken = true;
    });
  }

  #read(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      this.#filling ??= { frame: this.#spare.pop() ?? this.#newFrame(), bytes: 0 };
      const { frame, bytes: filled } = this.#filling;
      const taken = bytes.copy(frame.pixels, filled, at);
      at += taken;
      this.#filling.bytes += taken;
      if (this.#filling.bytes < frame.pixels.length) continue;
      if (this.latest !== null) this.#spare.push(this.latest.frame);
      this.latest = { frame, at: this.#at };
      this.#filling = null;
    }
  }

  #newFrame(): Frame {
    const { width, height } = this.#at;
    return { width, height, pixels: Buffer.alloc(bytesOf(this.#at)) };
  }
}

function decoderArgs(filters: readonly string[]): string[] {
  return [
    ...['-hide_banner', '-nostats', '-v', 'error', '-nostdin', '-flags', 'low_delay'],
    // Nothing has to be probed: the first frame is shown as soon as it arrives.
    ...['-analyzeduration', '0', '-fpsprobesize', '0', '-threads', '1'],
    ...roomVideoGuard(),
    ...['-map', '0:v:0', '-vf', filters.join(','), '-fps_mode', 'passthrough'],
    ...['-f', 'rawvideo', '-pix_fmt', 'yuv420p', '-flush_packets', '1', 'pipe:1'],
  ];
}

/** The header of an IVF file (https://wiki.multimedia.cx/index.php/Duck_IVF). */
function ivfHead({ width, height }: CameraShape): Buffer {
  const head = Buffer.alloc(IVF_FILE_BYTES);
  head.write('DKIF', 0, 'latin1');
  head.writeUInt16LE(IVF_FILE_BYTES, 6);
  head.write('VP80', 8, 'latin1');
  head.writeUInt16LE(width, 12);
  head.writeUInt16LE(height, 14);
  head.writeUInt32LE(30, 16);
  head.writeUInt32LE(1, 20);
  return head;
}
