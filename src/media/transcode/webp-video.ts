import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { RAW_VIDEO_GUARD, webpGuard } from '../ffmpeg/guard.ts';
import { element, elementHead, ID, matroskaHead, number, trackIds } from '../protocols/matroska/writer.ts';
import { corruptInputError, runTool, type Tools } from './run.ts';
import { readAnimation, type WebpAnimation, type WebpFrame, writeStill } from './webp.ts';
import { WebpCanvas } from './webp-canvas.ts';
import { frameTimes } from './webp-times.ts';

const CHANNELS = 4;
const GB = 2 ** 30;
/**
 * Maximum batch of decoded frames: their pixels are buffered; those of a larger frame are drawn as they
 * arrive.
 */
const BATCH_BYTES = 64 * 2 ** 20;
const BATCH_FRAMES = 250;
const DECODE_CPU_SEC = 120;
const LIMITS = { memoryBytes: 8 * GB, cpuSec: DECODE_CPU_SEC, fileBytes: 2 ** 20 };
/** Block header: first track, at the time of its cluster, a keyframe. */
const BLOCK_HEAD = Buffer.from([0x81, 0, 0, 0x80]);

interface Conversion {
  path: string;
  /** Directory that exists and is exclusive to this run. */
  dir: string;
  signal: AbortSignal;
}

/**
 * Converts an animated WebP, which ffmpeg cannot read, to a video that it can, visually lossless and with
 * every frame at its time (docs/decisions/transcoding.md#animated-webp). Its frames are decoded one by one
 * under the guard, and composited here.
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
      const times = frameTimes(animation);
      const show = async () => {
        for (const atMs of times.next().value ?? []) {
          await send(stdin, clusterHead(atMs, canvas.pixels.length), signal);
          await send(stdin, canvas.pixels, signal);
        }
      };
      for (const batch of batches(animation.frames)) {
        const [large] = batch.filter((frame) => bytesOf(frame) > BATCH_BYTES);
        if (large !== undefined) {
          await decode(tools, file, batch, { dir, signal, onPixels: canvas.painter(large) });
          await show();
          continue;
        }
        const decoded = await decodeAll(tools, file, batch, { dir, signal });
        let at = 0;
        for (const frame of batch) {
          const bytes = bytesOf(frame);
          await canvas.draw(frame, decoded.subarray(at, at + bytes));
          at += bytes;
          await show();
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

/** Decodes the pixels of consecutive frames, each in its own size. */
async function decodeAll(
  tools: Tools,
  file: FileHandle,
  frames: readonly WebpFrame[],
  run: Pick<Conversion, 'dir' | 'signal'>,
): Promise<Buffer> {
  const pixels = Buffer.alloc(frames.reduce((sum, frame) => sum + bytesOf(frame), 0));
  let filled = 0;
  const onPixels = (bytes: Buffer) => {
    filled += bytes.copy(pixels, filled);
  };
  await decode(tools, file, frames, { ...run, onPixels });
  return pixels;
}

interface Decoding extends Pick<Conversion, 'dir' | 'signal'> {
  onPixels: (bytes: Buffer) => void;
}

/** @throws {MediaFileError} when there are more or fewer of them than the container declares. */
async function decode(
  tools: Tools,
  file: FileHandle,
  frames: readonly WebpFrame[],
  { dir, signal, onPixels }: Decoding,
): Promise<void> {
  const path = join(dir, 'frames.webp');
  const stills = await open(path, 'w');
  try {
    for (const frame of frames) await writeStill(file, frame, stills);
  } finally {
    await stills.close();
  }
  let decoded = 0;
  await runTool(tools, {
    program: 'ffmpeg',
    cwd: dir,
    args: [
      ...['-hide_banner', '-nostats', '-v', 'warning', '-nostdin', '-threads', String(tools.threads)],
      ...webpGuard(path),
      // Frames keep their size: the first one does not determine the size of the others.
      ...['-map', '0:v:0', '-fps_mode', 'passthrough', '-autoscale', '0'],
      ...['-f', 'rawvideo', '-pix_fmt', 'rgba', 'pipe:1'],
    ],
    limits: LIMITS,
    looks: true,
    signal,
    onBytes: (bytes) => {
      decoded += bytes.length;
      onPixels(bytes);
    },
  });
  await rm(path);
  if (decoded !== frames.reduce((sum, frame) => sum + bytesOf(frame), 0)) throw corruptInputError();
}

interface Encoding extends Pick<Conversion, 'dir' | 'signal'> {
  pictures: (stdin: Writable) => Promise<void>;
}

/** Encodes the composited frames to a file; a failure on either side ends the other. */
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
      ...RAW_VIDEO_GUARD,
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

/** Returns the encoder limits: lossless frames are large and fast to encode. */
function encoderLimits(pixels: number) {
  return { memoryBytes: 8 * GB, cpuSec: 300 + pixels / 5e6, fileBytes: 64 * GB };
}

/** Resolves when everything is written, so that the memory can be reused; ignores a closed stream. */
async function send(stdin: Writable, bytes: Buffer, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (stdin.destroyed) throw new Error('the encoder has ended');
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onClose = () => reject(new Error('the encoder has ended'));
  stdin.once('close', onClose);
  stdin.write(bytes, (error) => (error ? onClose() : resolve()));
  try {
    await promise;
  } finally {
    stdin.off('close', onClose);
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

/** Returns the headers before the pixels of a frame. */
function clusterHead(atMs: number, pixelBytes: number): Buffer {
  const time = number(ID.clusterTimestamp, atMs);
  const block = [elementHead(ID.simpleBlock, BLOCK_HEAD.length + pixelBytes), BLOCK_HEAD];
  const content = Buffer.concat([time, ...block]);
  return Buffer.concat([elementHead(ID.cluster, content.length + pixelBytes), content]);
}
