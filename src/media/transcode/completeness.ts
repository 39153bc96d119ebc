import { type FileHandle, open } from 'node:fs/promises';
import { MediaFileError } from '../contract/index.ts';
import { type Box, boxAt, boxInside, timescaleOf } from '../protocols/fmp4/boxes.ts';
import type { ProbedStream, ProbeReport } from './ffprobe.ts';
import type { PacketScan } from './scan.ts';

/** Minimum share of the declared length (docs/guides/processing.md#truncated-files). */
const ENOUGH = 0.95;
/** Tolerance for headers that count a last frame that does not exist. */
const ROUNDING_SEC = 0.1;

interface Found {
  path: string;
  report: ProbeReport;
  video: ProbedStream;
  scan: PacketScan;
}

/**
 * Compares the length declared by the header with the packets found. Transport streams, Ogg and live
 * recordings (fragmented MP4 and Matroska without a duration) declare no length: they are accepted as they
 * are. A file too long to read all packets is judged by its declared size in bytes.
 *
 * @throws {MediaFileError} CORRUPT_INPUT, whose message has both lengths, or the available share.
 */
export async function checkComplete(found: Found): Promise<void> {
  const { scan } = found;
  if (!scan.isComplete) return checkBytes(found);
  if (scan.video === null) return;
  const lengths = await lengthsOf(found);
  if (lengths === null) return;
  const { declaredSec, foundSec } = lengths;
  if (foundSec >= declaredSec * ENOUGH - ROUNDING_SEC) return;
  throw brokenOff(`${shown(foundSec)} of ${shown(declaredSec)} seconds are`);
}

function brokenOff(what: string): MediaFileError {
  return new MediaFileError('CORRUPT_INPUT', `The file is truncated: ${what} present. Upload it again.`);
}

/**
 * Functions that return the size of the complete file as declared by its container; 0 when it declares none.
 */
const ENDS: Readonly<Record<string, (file: FileHandle) => Promise<number>>> = {
  mov: boxesEnd,
  matroska: segmentEnd,
  avi: riffEnd,
  flv: flvEnd,
  asf: asfEnd,
};

async function checkBytes({ path, report }: Found): Promise<void> {
  const endOf = ENDS[containerOf(report)];
  if (endOf === undefined) return;
  const share = await reading(path, async (file) => {
    const { size } = await file.stat();
    return size / Math.max(size, await endOf(file));
  });
  if (share < ENOUGH) throw brokenOff(`${Math.floor(share * 100)}% of its bytes are`);
}

function containerOf({ format }: ProbeReport): string {
  return format.format_name.split(',')[0] ?? '';
}

interface Lengths {
  declaredSec: number;
  foundSec: number;
}

/** Returns the declared and found lengths; null when nothing is declared. */
async function lengthsOf({ path, report, video, scan }: Found): Promise<Lengths | null> {
  const container = containerOf(report);
  const startSec = seconds(report.format.start_time);
  const lengths = (declaredSec: number, foundSec: number) =>
    declaredSec > 0 ? { declaredSec, foundSec } : null;
  const trackSec = (scan.video?.lastEndSec ?? 0) - (scan.video?.startSec ?? 0);
  const wholeSec = scan.endSec - startSec;
  // Some muxers count from zero instead of from the first packet.
  const wholeFromZeroSec = scan.endSec - Math.min(0, startSec);
  switch (container) {
    case 'mov': {
      const fragments = await reading(path, fragmentsOf);
      if (fragments === null) return lengths(seconds(video.duration), trackSec);
      const { headerSec, indexSec } = fragments;
      return indexSec < headerSec ? lengths(headerSec, wholeFromZeroSec) : lengths(indexSec, wholeSec);
    }
    case 'avi':
      return lengths(await aviSeconds(path), trackSec);
    case 'matroska':
      return lengths(seconds(report.format.duration), wholeFromZeroSec);
    case 'flv':
    case 'asf':
      return lengths(seconds(report.format.duration), wholeSec);
    default:
      return null;
  }
}

const HEADER_BYTES = 16;

interface BoxHead {
  type: string;
  at: number;
  /** Start of the next box; null for one that extends to the end of the file. */
  endAt: number | null;
}

/** Maximum boxes before the media, which are few; a file can have a box for every eight of its bytes. */
const MAX_BEFORE_MEDIA = 1000;
/** Maximum boxes; twelve hours in fragments of half a second have a fifth of it. */
const MAX_BOXES = 1_000_000;

/**
 * Yields the headers of the first boxes of a file (ISO/IEC 14496-12 4.2), up to the end of the file or the
 * first invalid one.
 */
async function* boxHeads(file: FileHandle, most: number): AsyncGenerator<BoxHead> {
  const header = Buffer.alloc(HEADER_BYTES);
  for (let at = 0, left = most; left > 0; left -= 1) {
    const { bytesRead } = await file.read(header, 0, HEADER_BYTES, at);
    if (bytesRead < 8) return;
    const short = header.readUInt32BE(0);
    const length = short === 1 && bytesRead === HEADER_BYTES ? Number(header.readBigUInt64BE(8)) : short;
    const endAt = length < 8 ? null : at + length;
    yield { type: header.toString('latin1', 4, 8), at, endAt };
    if (endAt === null) return;
    at = endAt;
  }
}

/** Declarations before the media of a fragmented file; 0 for missing ones. */
interface Fragments {
  headerSec: number;
  indexSec: number;
  /** End of the bytes listed in the index. */
  indexEnd: number;
}

/**
 * Reads the declarations of a fragmented file (ISO/IEC 14496-12 8.8), which ffprobe mixes with its own
 * findings; null for any other file. An unfinished recording declares nothing, or only its first fragment.
 */
async function fragmentsOf(file: FileHandle): Promise<Fragments | null> {
  const found: Fragments = { headerSec: 0, indexSec: 0, indexEnd: 0 };
  let isFragmented = false;
  for await (const { type, at, endAt } of boxHeads(file, MAX_BEFORE_MEDIA)) {
    if (type === 'moof') isFragmented = true;
    if (type === 'moof' || type === 'mdat' || endAt === null) break;
    if (type === 'moov') {
      const header = readHeader(await boxBytes(file, at, endAt));
      isFragmented ||= header.isFragmented;
      found.headerSec = header.sec;
    }
    if (type === 'sidx') {
      const { sec, bytes } = readIndex(await boxBytes(file, at, endAt));
      found.indexSec = Math.max(found.indexSec, sec);
      found.indexEnd = Math.max(found.indexEnd, endAt + bytes);
    }
  }
  return isFragmented ? found : null;
}

/**
 * Maximum bytes read of a box, more than the longest index has. For a longer `moov`, of an unfragmented file,
 * this suffices.
 */
const BOX_MAX_BYTES = 2 ** 20;

async function boxBytes(file: FileHandle, at: number, endAt: number): Promise<Buffer> {
  const length = Math.min(endAt - at, BOX_MAX_BYTES);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}

/** Minimum size up to the duration, in either version. */
const MVHD_MIN_BYTES = 32;

/** Parses `moov`: returns the longer of its own duration and the one in `mehd`. */
function readHeader(bytes: Buffer): { isFragmented: boolean; sec: number } {
  const content = { start: boxAt(bytes, 0)?.start ?? bytes.length, end: bytes.length };
  const isFragmented = boxInside(bytes, content, 'mvex') !== null;
  const mvhd = boxInside(bytes, content, 'mvhd');
  if (mvhd === null || mvhd.end - mvhd.start < MVHD_MIN_BYTES) return { isFragmented, sec: 0 };
  const mehd = boxInside(bytes, content, 'mvex', 'mehd');
  const announced = mehd === null ? 0 : ticksAt(bytes, mehd, { short: 4, large: 4 });
  const ticks = Math.max(announced, ticksAt(bytes, mvhd, { short: 16, large: 24 }));
  return { isFragmented, sec: ticks / (timescaleOf(bytes, mvhd) || Number.POSITIVE_INFINITY) };
}

/** Reads a duration, whose position and size depend on the version; all ones mean unknown. */
function ticksAt(bytes: Buffer, box: Box, offsets: { short: number; large: number }): number {
  const isLarge = bytes[box.start] === 1;
  const at = box.start + (isLarge ? offsets.large : offsets.short);
  if (at + (isLarge ? 8 : 4) > box.end) return 0;
  if (bytes.readUInt32BE(at) === 0xffff_ffff) return 0;
  return isLarge ? Number(bytes.readBigUInt64BE(at)) : bytes.readUInt32BE(at);
}

const REFERENCE_BYTES = 12;

/** Parses `sidx` (8.16.3): returns its total duration, and the number of bytes after it. */
function readIndex(bytes: Buffer): { sec: number; bytes: number } {
  const start = boxAt(bytes, 0)?.start ?? bytes.length;
  const isLarge = bytes[start] === 1;
  const listAt = start + (isLarge ? 32 : 24);
  if (listAt > bytes.length) return { sec: 0, bytes: 0 };
  let length = isLarge ? Number(bytes.readBigUInt64BE(start + 20)) : bytes.readUInt32BE(start + 16);
  let ticks = 0;
  for (let at = listAt; at + REFERENCE_BYTES <= bytes.length; at += REFERENCE_BYTES) {
    // The first bit is the reference type.
    length += bytes.readUInt32BE(at) & 0x7fff_ffff;
    ticks += bytes.readUInt32BE(at + 4);
  }
  return { sec: ticks / (bytes.readUInt32BE(start + 8) || Number.POSITIVE_INFINITY), bytes: length };
}

/** Returns the declared end of the last box, or that of the index if later. */
async function boxesEnd(file: FileHandle): Promise<number> {
  let end = (await fragmentsOf(file))?.indexEnd ?? 0;
  for await (const { endAt } of boxHeads(file, MAX_BOXES)) end = Math.max(end, endAt ?? 0);
  return end;
}

const SEGMENT = '18538067';
const EBML_HEAD_BYTES = 256;

/** Returns the declared end of the Matroska segment (RFC 8794 6); 0 when it declares none. */
async function segmentEnd(file: FileHandle): Promise<number> {
  const buffer = await headOf(file, EBML_HEAD_BYTES);
  const at = buffer.indexOf(SEGMENT, 0, 'hex') + SEGMENT.length / 2;
  const first = buffer[at] ?? 0;
  const octets = Math.clz32(first) - 23;
  if (at < SEGMENT.length / 2 || octets > 8 || at + octets > EBML_HEAD_BYTES) return 0;
  const mask = 2 ** (8 - octets) - 1;
  let length = first & mask;
  let isUnknown = length === mask;
  for (const octet of buffer.subarray(at + 1, at + octets)) {
    length = length * 256 + octet;
    isUnknown &&= octet === 0xff;
  }
  return isUnknown ? 0 : at + octets + length;
}

const AVI_HEAD_BYTES = 256;

/**
 * Returns the duration in the main AVI header, which ffprobe shortens for a truncated file; 0 without one.
 */
async function aviSeconds(path: string): Promise<number> {
  return reading(path, async (file) => {
    const buffer = await headOf(file, AVI_HEAD_BYTES);
    const at = buffer.indexOf('avih', 0, 'latin1') + 8;
    if (at < 8 || at + 20 > AVI_HEAD_BYTES) return 0;
    return (buffer.readUInt32LE(at) * buffer.readUInt32LE(at + 16)) / 1e6;
  });
}

/** Maximum RIFF chunks: AVI files consist of chunks of one gigabyte, and this exceeds the upload limit. */
const MAX_RIFFS = 1000;

/**
 * Returns the declared end of the last RIFF chunk of an AVI; an unfinished recording has a length of zeros or
 * ones.
 */
async function riffEnd(file: FileHandle): Promise<number> {
  const header = Buffer.alloc(8);
  let end = 0;
  for (let left = MAX_RIFFS; left > 0; left -= 1) {
    const { bytesRead } = await file.read(header, 0, header.length, end);
    const length = header.readUInt32LE(4);
    if (bytesRead < header.length || header.toString('latin1', 0, 4) !== 'RIFF') break;
    if (length === 0 || length === 0xffff_ffff) break;
    end += header.length + length + (length % 2);
  }
  return end;
}

const SCRIPT_BYTES = 4096;
/** Field name, followed by the marker of a number (AMF 0). */
const FILE_SIZE = Buffer.from('filesize\0');

/** Returns the file size in the script tag at the beginning of an FLV. */
async function flvEnd(file: FileHandle): Promise<number> {
  const buffer = await headOf(file, SCRIPT_BYTES);
  const at = buffer.indexOf(FILE_SIZE) + FILE_SIZE.length;
  return at < FILE_SIZE.length || at + 8 > SCRIPT_BYTES ? 0 : buffer.readDoubleBE(at);
}

const ASF_HEAD_BYTES = 65_536;
const FILE_PROPERTIES = 'a1dcab8c47a9cf118ee400c00c205365';

/** Returns the size in the ASF File Properties (3.2), which is invalid for a broadcast. */
async function asfEnd(file: FileHandle): Promise<number> {
  const buffer = await headOf(file, ASF_HEAD_BYTES);
  const at = buffer.indexOf(FILE_PROPERTIES, 0, 'hex');
  if (at < 0 || at + 92 > ASF_HEAD_BYTES) return 0;
  const isBroadcast = (buffer.readUInt32LE(at + 88) & 1) === 1;
  return isBroadcast ? 0 : Number(buffer.readBigUInt64LE(at + 40));
}

/** Reads the first bytes; a shorter file is padded with zeros. */
async function headOf(file: FileHandle, length: number): Promise<Buffer> {
  return (await file.read(Buffer.alloc(length), 0, length, 0)).buffer;
}

async function reading<T>(path: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

function seconds(text: string | undefined): number {
  return Number.parseFloat(text ?? '') || 0;
}

function shown(sec: number): string {
  return sec.toFixed(1);
}
