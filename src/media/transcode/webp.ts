import { type FileHandle, open } from 'node:fs/promises';
import { MediaFileError } from '../contract/index.ts';
import { checkAnimation } from './animations.ts';
import { checkDuration } from './probe.ts';
import { corruptInputError } from './run.ts';

/**
 * Parser for the container of an animated WebP
 * (https://developers.google.com/speed/webp/docs/riff_container); the contents of frames are left to the
 * decoder.
 */

/** Frame of the animation, positioned on its canvas. */
export interface WebpFrame {
  x: number;
  y: number;
  width: number;
  height: number;
  durationMs: number;
  /** The frame replaces the pixels below it instead of being alpha-blended. */
  covers: boolean;
  /** The area of the frame is cleared before the next one. */
  clears: boolean;
  /** Byte ranges in the file, including the chunk headers. */
  parts: readonly Span[];
  hasAlphaPlane: boolean;
}

interface Span {
  at: number;
  bytes: number;
}

export interface WebpAnimation {
  width: number;
  height: number;
  frames: WebpFrame[];
}

const ANIMATED = 2;
const WITH_ALPHA = 0x10;
const HEAD_BYTES = 30;
const CHUNK_HEAD_BYTES = 8;
const ANMF_HEAD_BYTES = 16;
/** Maximum long side (docs/concepts/plans.md): 8K, landscape or portrait. */
const MAX_LONG_SIDE = 7680;
const MAX_SHORT_SIDE = 4320;
/** Maximum chunks of the whole file, including those inside frames. */
const MAX_CHUNKS = 500_000;
/**
 * Maximum bytes per pixel: coded frames are never much larger than their pixels, so larger ones are not read.
 */
const PIXEL_MAX_BYTES = 8;
const PICTURE_LEAST_BYTES = 2 ** 16;
/** Part of a frame in memory at a time. */
const PIECE_BYTES = 2 ** 20;
/** Minimum share of the declared length (docs/guides/processing.md#truncated-files). */
const ENOUGH = 0.95;
/** Frame duration up to which browsers use `UNHURRIED_MS` instead. */
const HASTE_MS = 10;
const UNHURRIED_MS = 100;

export async function isAnimatedWebp(path: string): Promise<boolean> {
  return reading(path, async (file) => {
    const head = await read(file, 0, HEAD_BYTES);
    return (
      head !== null && isWebp(head) && isChunk(head, 12, 'VP8X') && (head.readUInt8(20) & ANIMATED) !== 0
    );
  });
}

/** @throws {MediaFileError} */
export function readAnimation(path: string): Promise<WebpAnimation> {
  return reading(path, async (file) => {
    const { size } = await file.stat();
    const head = await read(file, 0, HEAD_BYTES);
    if (head === null) throw corruptInputError();
    const declared = head.readUInt32LE(4) + CHUNK_HEAD_BYTES;
    if (size < declared * ENOUGH) {
      const share = Math.floor((size / declared) * 100);
      throw new MediaFileError(
        'CORRUPT_INPUT',
        `The file is truncated: ${share}% of its bytes are present. Upload it again.`,
      );
    }
    const [width, height] = [head.readUIntLE(24, 3) + 1, head.readUIntLE(27, 3) + 1];
    if (Math.max(width, height) > MAX_LONG_SIDE || Math.min(width, height) > MAX_SHORT_SIDE) {
      throw new MediaFileError('UNSUPPORTED_FORMAT', 'The resolution exceeds 7680 by 4320.');
    }
    const canvas = { width, height };
    const frames: WebpFrame[] = [];
    const reader = { file, chunksLeft: MAX_CHUNKS };
    let totalMs = 0;
    for await (const { name, at, bytes } of chunks(reader, 12, Math.min(size, declared))) {
      if (name !== 'ANMF') continue;
      const frame = await readFrame(reader, { at, bytes }, canvas);
      frames.push(frame);
      totalMs += frame.durationMs;
      checkDuration(totalMs / 1000);
      checkAnimation('WebP', canvas, frames.length);
    }
    if (frames.length < 2)
      throw new MediaFileError('UNSUPPORTED_FORMAT', 'This is an image (WebP), not a video.');
    return { ...canvas, frames };
  });
}

async function reading<T>(path: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

/** Reads exactly `bytes` bytes; null when the file is shorter. */
async function read(file: FileHandle, at: number, bytes: number): Promise<Buffer | null> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, at);
  return bytesRead === bytes ? buffer : null;
}

function isWebp(head: Buffer): boolean {
  return isChunk(head, 0, 'RIFF') && isChunk(head, 8, 'WEBP');
}

function isChunk(bytes: Buffer, at: number, name: string): boolean {
  return bytes.toString('latin1', at, at + 4) === name;
}

interface ChunkReader {
  file: FileHandle;
  /** Remaining chunks: a file can have one for every eight of its bytes. */
  chunksLeft: number;
}

/** Yields complete chunks only. @yields the offset and length of the content. */
async function* chunks(
  reader: ChunkReader,
  from: number,
  until: number,
): AsyncGenerator<Span & { name: string }> {
  let at = from;
  for (; reader.chunksLeft > 0 && at + CHUNK_HEAD_BYTES <= until; reader.chunksLeft -= 1) {
    const head = await read(reader.file, at, CHUNK_HEAD_BYTES);
    if (head === null) return;
    const bytes = head.readUInt32LE(4);
    const inside = at + CHUNK_HEAD_BYTES;
    if (inside + bytes > until) return;
    yield { name: head.toString('latin1', 0, 4), at: inside, bytes };
    at = inside + bytes + (bytes % 2);
  }
}

async function readFrame(
  reader: ChunkReader,
  { at, bytes }: Span,
  canvas: { width: number; height: number },
): Promise<WebpFrame> {
  const { file } = reader;
  const head = bytes < ANMF_HEAD_BYTES ? null : await read(file, at, ANMF_HEAD_BYTES);
  if (head === null) throw corruptInputError();
  const [x, y] = [head.readUIntLE(0, 3) * 2, head.readUIntLE(3, 3) * 2];
  const [width, height] = [head.readUIntLE(6, 3) + 1, head.readUIntLE(9, 3) + 1];
  if (x + width > canvas.width || y + height > canvas.height) throw corruptInputError();
  const mostBytes = Math.max(PICTURE_LEAST_BYTES, width * height * PIXEL_MAX_BYTES);
  const durationMs = head.readUIntLE(12, 3);
  const flags = head.readUInt8(15);
  const parts: Span[] = [];
  let hasAlphaPlane = false;
  for await (const part of chunks(reader, at + ANMF_HEAD_BYTES, at + bytes)) {
    const span = { at: part.at - CHUNK_HEAD_BYTES, bytes: CHUNK_HEAD_BYTES + part.bytes };
    if (span.bytes > mostBytes) continue;
    if (part.name === 'ALPH' && parts.length === 0) {
      parts.push(span);
      hasAlphaPlane = true;
    } else if (part.name === 'VP8 ' || part.name === 'VP8L') {
      const size = await pictureSize(file, part.name, part.at);
      // The decoded image is drawn with the size in the frame header.
      if (size.width !== width || size.height !== height) throw corruptInputError();
      parts.push(span);
      const durations = durationMs <= HASTE_MS ? UNHURRIED_MS : durationMs;
      const [covers, clears] = [(flags & 2) !== 0, (flags & 1) !== 0];
      return { x, y, width, height, durationMs: durations, covers, clears, parts, hasAlphaPlane };
    }
  }
  throw corruptInputError();
}

/** RFC 6386, section 9.1; RFC 9649, section 3.4. */
async function pictureSize(
  file: FileHandle,
  name: 'VP8 ' | 'VP8L',
  at: number,
): Promise<{ width: number; height: number }> {
  const head = await read(file, at, 10);
  if (head === null) throw corruptInputError();
  if (name === 'VP8 ') return { width: head.readUInt16LE(6) & 0x3fff, height: head.readUInt16LE(8) & 0x3fff };
  const bits = head.readUInt32LE(1);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}

/** Writes a frame as a file of its own behind what `to` has, piece by piece: a frame may have hundreds of megabytes. */
export async function writeStill(from: FileHandle, frame: WebpFrame, to: FileHandle): Promise<void> {
  const extended = frame.hasAlphaPlane ? extendedHead(frame) : Buffer.alloc(0);
  const bytes = frame.parts.reduce((sum, part) => sum + part.bytes + (part.bytes % 2), 4 + extended.length);
  const head = Buffer.alloc(CHUNK_HEAD_BYTES + 4);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(bytes, 4);
  head.write('WEBP', CHUNK_HEAD_BYTES, 'latin1');
  await to.writeFile(Buffer.concat([head, extended]));
  for (const { at, bytes } of frame.parts) {
    for (let done = 0; done < bytes; done += PIECE_BYTES) {
      const piece = await read(from, at + done, Math.min(PIECE_BYTES, bytes - done));
      if (piece === null) throw corruptInputError();
      await to.writeFile(piece);
    }
    if (bytes % 2 === 1) await to.writeFile(Buffer.alloc(1));
  }
}

function extendedHead({ width, height }: WebpFrame): Buffer {
  const head = Buffer.alloc(18);
  head.write('VP8X', 0, 'latin1');
  head.writeUInt32LE(10, 4);
  head.writeUInt8(WITH_ALPHA, 8);
  head.writeUIntLE(width - 1, 12, 3);
  head.writeUIntLE(height - 1, 15, 3);
  return head;
}
