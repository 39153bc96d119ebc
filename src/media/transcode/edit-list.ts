import type { FileHandle } from 'node:fs/promises';
import { type Box, boxAt, boxesIn, boxInside, type Span, timescaleOf } from '../protocols/fmp4/boxes.ts';

const HEADER_BYTES = 16;
/** Maximum size of the index; that of many hours has a few megabytes. */
const MOOV_MAX_BYTES = 2 ** 28;

/**
 * Ends every track of an MP4 file after `durationSec` with its edit list (ISO/IEC 14496-12 8.6.6): later
 * media stays in the file, but is not played.
 *
 * @returns the start of the video, in seconds; null when the file does not have the structure that ffmpeg
 *   writes.
 */
export async function trimByEditList(file: FileHandle, durationSec: number): Promise<number | null> {
  const place = await findMoov(file);
  if (place === null) return null;
  const moov = Buffer.alloc(place.end - place.start);
  await file.read(moov, 0, moov.length, place.start);
  const all = { start: 0, end: moov.length };
  const mvhd = boxInside(moov, all, 'mvhd');
  if (mvhd === null) return null;
  const timescale = timescaleOf(moov, mvhd);
  const lengthTicks = Math.round(durationSec * timescale);
  shorten(moov, mvhd, 16, 24, lengthTicks);
  let lateSec: number | null = null;
  for (const trak of boxesIn(moov)) {
    if (trak.type !== 'trak') continue;
    const elst = boxInside(moov, trak, 'edts', 'elst');
    const hdlr = boxInside(moov, trak, 'mdia', 'hdlr');
    if (elst === null || hdlr === null) return null;
    const tkhd = boxInside(moov, trak, 'tkhd');
    if (tkhd !== null) shorten(moov, tkhd, 20, 28, lengthTicks);
    const emptyTicks = endEdit(moov, elst, lengthTicks);
    const kind = moov.toString('latin1', hdlr.start + 8, hdlr.start + 12);
    if (kind === 'vide') lateSec = emptyTicks / timescale;
  }
  await file.write(moov, 0, moov.length, place.start);
  return lateSec;
}

/** Shortens the duration in a header, at an offset that depends on the size of its times. */
function shorten(moov: Buffer, header: Box, offset: number, largeOffset: number, lengthTicks: number): void {
  if (moov[header.start] === 1) {
    const at = header.start + largeOffset;
    moov.writeBigUInt64BE(BigInt(Math.min(Number(moov.readBigUInt64BE(at)), lengthTicks)), at);
  } else {
    const at = header.start + offset;
    moov.writeUInt32BE(Math.min(moov.readUInt32BE(at), lengthTicks), at);
  }
}

/** @returns the time at the beginning without media. */
function endEdit(moov: Buffer, elst: Box, lengthTicks: number): number {
  const isLarge = moov[elst.start] === 1;
  const count = moov.readUInt32BE(elst.start + 4);
  const size = isLarge ? 20 : 12;
  let emptyTicks = 0;
  for (let index = 0; index < count; index += 1) {
    const at = elst.start + 8 + index * size;
    if (at + size > elst.end) break;
    const ticks = isLarge ? Number(moov.readBigUInt64BE(at)) : moov.readUInt32BE(at);
    const isEmpty = isLarge ? moov.readBigInt64BE(at + 8) === -1n : moov.readInt32BE(at + 4) === -1;
    if (isEmpty) {
      emptyTicks += ticks;
      continue;
    }
    const ended = Math.min(ticks, Math.max(0, lengthTicks - emptyTicks));
    if (isLarge) moov.writeBigUInt64BE(BigInt(ended), at);
    else moov.writeUInt32BE(ended, at);
  }
  return emptyTicks;
}

async function findMoov(file: FileHandle): Promise<Span | null> {
  const { size } = await file.stat();
  const header = Buffer.alloc(HEADER_BYTES);
  for (let at = 0; at < size; ) {
    const { bytesRead } = await file.read(header, 0, HEADER_BYTES, at);
    const box = boxAt(header.subarray(0, bytesRead), 0);
    if (box === null || at + box.end > size) return null;
    const { type, start, end } = box;
    if (type === 'moov') return end > MOOV_MAX_BYTES ? null : { start: at + start, end: at + end };
    at += end;
  }
  return null;
}
