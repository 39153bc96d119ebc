import { once } from 'node:events';
import { type FileHandle, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { OWN_PIXELS_GUARD, webpGuard } from '../ffmpeg/guard.ts';
import { element, ID, matroskaHead, number, trackIds } from '../rooms/compose/matroska.ts';
import { damaged, runTool, type Tools } from './run.ts';
import { readAnimation, stillOf, type WebpAnimation, type WebpFrame } from './webp.ts';
import { WebpCanvas } from './webp-canvas.ts';
import { timesOf } from './webp-times.ts';

const CHANNELS = 4;
const GB = 2 ** 30;
/** Pictures that are decoded at once: their pixels wait in memory. */
const BATCH_BYTES = 64 * 2 ** 20;
const BATCH_FRAMES = 250;
const DECODE_CPU_SEC = 120;
const LIMITS = { memoryBytes: 8 * GB, cpuSec: DECODE_CPU_SEC, fileBytes: 2 ** 20 };
const KEY_FLAG = 0x80;

interface Conversion {
  path: string;
  /** Exists, and belongs to this run alone. */
  dir: string;
  signal: AbortSignal;
}

/**
 * An animated WebP, which ffmpeg does not read, as a video that it does, without a loss that the eye could see and with every
 * picture at its time (docs/decisions/transcoding.md#animated-webp). Its pictures are decoded one by one under the guard, and laid over
 * each other here.
 *
 * @returns the path of the video in `dir`.
 * @throws {MediaFileError}
 */
export async function convertWebp(tools: Tools, { path, dir, signal }: Conversion): Promise<string> {
  const animation = await readAnimation(path);
  const file = await open(path);
  try {
    const canvas = new WebpCanvas(animation);
    const pictures = async (stdin: Writable) => {
      stdin.write(headOf(animation));
      const times = timesOf(animation);
      for (const batch of batches(animation.frames)) {
        const decoded = await decode(tools, file, batch, { dir, signal });
        let at = 0;
        for (const frame of batch) {
          const bytes = bytesOf(frame);
          await canvas.draw(frame, decoded.subarray(at, at + bytes));
          at += bytes;
          for (const atMs of times.next().value ?? [])
            await send(stdin, clusterOf(atMs, canvas.pixels), signal);
        }
      }
    };
    return await encode(tools, animation, { dir, signal, pictures });
  } finally {
    await file.close();
  }
}

function bytesOf({ width, height }: { width: number; height: number }): number {
  return width * height * CHANNELS;
}

function* batches(frames: readonly WebpFrame[]): Generator<WebpFrame[]> {
  let batch: WebpFrame[] = [];
  let bytes = 0;
  for (const frame of frames) {
    const own = bytesOf(frame);
    if (batch.length > 0 && (bytes + own > BATCH_BYTES || batch.length === BATCH_FRAMES)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(frame);
    bytes += own;
  }
  if (batch.length > 0) yield batch;
}

/** The pixels of some frames, one after the other, each in its own size. */
async function decode(
  tools: Tools,
  file: FileHandle,
  frames: readonly WebpFrame[],
  { dir, signal }: Pick<Conversion, 'dir' | 'signal'>,
): Promise<Buffer> {
  const stills = join(dir, 'frames.webp');
  const files: Buffer[] = [];
  for (const frame of frames) files.push(await stillOf(file, frame));
  await writeFile(stills, Buffer.concat(files));
  const wanted = frames.reduce((sum, frame) => sum + bytesOf(frame), 0);
  const pixels = Buffer.alloc(wanted);
  let filled = 0;
  await runTool(tools, {
    program: 'ffmpeg',
    cwd: dir,
    args: [
      ...['-hide_banner', '-nostats', '-v', 'warning', '-nostdin', '-threads', String(tools.threads)],
      ...webpGuard(stills),
      // Every picture as it is: the first one does not say how large the others are.
      ...['-map', '0:v:0', '-fps_mode', 'passthrough', '-autoscale', '0'],
      ...['-f', 'rawvideo', '-pix_fmt', 'rgba', 'pipe:1'],
    ],
    limits: LIMITS,
    looks: true,
    signal,
    onBytes: (bytes) => {
      bytes.copy(pixels, filled);
      filled += bytes.length;
    },
  });
  await rm(stills);
  if (filled !== wanted) throw damaged();
  return pixels;
}

interface Encoding extends Pick<Conversion, 'dir' | 'signal'> {
  pictures: (stdin: Writable) => Promise<void>;
}

/** Pictures of ours in, a file out; whichever side fails ends the other. */
async function encode(
  tools: Tools,
  { width, height, frames }: WebpAnimation,
  { dir, signal, pictures }: Encoding,
): Promise<string> {
  const name = 'converted.mp4';
  const failed = new AbortController();
  let fault: unknown = null;
  const feed = (stdin: Writable) => {
    pictures(stdin).then(
      () => stdin.end(),
      (error: unknown) => {
        fault = error;
        failed.abort();
      },
    );
  };
  const run = runTool(tools, {
    program: 'ffmpeg',
    cwd: dir,
    args: [
      ...['-hide_banner', '-nostats', '-v', 'warning', '-threads', String(tools.threads)],
      ...OWN_PIXELS_GUARD,
      ...['-map', '0:v:0', '-fps_mode', 'passthrough', '-enc_time_base', '1:1000'],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '0', '-bf', '0', '-pix_fmt', 'yuv444p'],
      ...['-threads', String(tools.threads), '-video_track_timescale', '1000', name],
    ],
    limits: encoderLimits(width * height * frames.length),
    signal: AbortSignal.any([signal, failed.signal]),
    input: feed,
  });
  try {
    await run;
  } catch (error) {
    signal.throwIfAborted();
    throw fault ?? error;
  }
  return join(dir, name);
}

/** Lossless pictures are large, and quickly made. */
function encoderLimits(pixels: number) {
  return { memoryBytes: 8 * GB, cpuSec: 300 + pixels / 5e6, fileBytes: 64 * GB };
}

/** Waits for its turn; not for one that is gone. */
async function send(stdin: Writable, bytes: Buffer, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (stdin.destroyed) throw new Error('the encoder is gone');
  if (stdin.write(bytes)) return;
  const over = new AbortController();
  const waiting = { signal: AbortSignal.any([signal, over.signal]) };
  try {
    await Promise.race([once(stdin, 'drain', waiting), once(stdin, 'close', waiting)]);
  } finally {
    over.abort();
  }
}

/** RFC 9559: times are in milliseconds. */
function headOf({ width, height }: WebpAnimation): Buffer {
  const video = element(ID.video, [
    number(ID.pixelWidth, width),
    number(ID.pixelHeight, height),
    element(ID.colourSpace, [Buffer.from('RGBA', 'latin1')]),
  ]);
  return matroskaHead([element(ID.trackEntry, [...trackIds(1, 1, 'V_UNCOMPRESSED'), video])]);
}

function clusterOf(atMs: number, pixels: Buffer): Buffer {
  const head = Buffer.from([0x81, 0, 0, KEY_FLAG]);
  return element(ID.cluster, [number(ID.clusterTimestamp, atMs), element(ID.simpleBlock, [head, pixels])]);
}
