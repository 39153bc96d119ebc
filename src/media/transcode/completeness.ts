import { type FileHandle, open } from 'node:fs/promises';
import { MediaFileError } from '../contract/index.ts';
import type { ProbedStream, ProbeReport } from './ffprobe.ts';
import type { PacketScan } from './scan.ts';

/** A file that has less of what its header promises is no video (docs/guides/processing.md#files-that-break-off). */
const ENOUGH = 0.95;
/** Of a header that counts a last picture which is not there. */
const ROUNDING_SEC = 0.1;

interface Found {
  path: string;
  report: ProbeReport;
  video: ProbedStream;
  scan: PacketScan;
}

/**
 * Compares what the header declares with the packets that were found. Transport streams, Ogg and live recordings (fragmented
 * MP4, Matroska without a duration) declare nothing: they are taken as far as they go. Of a file too long for all its packets
 * to be read the bytes are compared with the lengths of its boxes and elements.
 *
 * @throws {MediaFileError} CORRUPT_INPUT, whose message has both lengths, or the share that is there.
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
  return new MediaFileError('CORRUPT_INPUT', `The file breaks off: ${what} there. Upload it again.`);
}

async function checkBytes({ path, report }: Found): Promise<void> {
  const [container] = report.format.format_name.split(',');
  const share = await reading(path, async (file) => {
    const { size } = await file.stat();
    if (container === 'mov') return size / Math.max(size, await boxesEnd(file));
    return container === 'matroska' ? size / Math.max(size, await segmentEnd(file)) : 1;
  });
  if (share < ENOUGH) throw brokenOff(`${Math.floor(share * 100)} % of its bytes are`);
}

async function lengthsOf({ path, report, video, scan }: Found) {
  const [container] = report.format.format_name.split(',');
  const trackSec = (scan.video?.lastEndSec ?? 0) - (scan.video?.startSec ?? 0);
  const own = (declaredSec: number) => (declaredSec > 0 ? { declaredSec, foundSec: trackSec } : null);
  if (container === 'mov') {
    return (await isFragmented(path)) ? null : own(seconds(video.duration));
  }
  if (container === 'avi') return own(await aviSeconds(path));
  if (container !== 'matroska' && container !== 'flv' && container !== 'asf') return null;
  const declaredSec = seconds(report.format.duration);
  const startSec = Number.parseFloat(report.format.start_time ?? '') || 0;
  // Some writers of Matroska count from zero and not from the first packet.
  const foundSec = scan.endSec - (container === 'matroska' ? Math.min(0, startSec) : startSec);
  return declaredSec > 0 ? { declaredSec, foundSec } : null;
}

const HEADER_BYTES = 16;

interface BoxHead {
  type: string;
  at: number;
  /** Where the next one begins; null for one that lasts to the end of the file. */
  endAt: number | null;
}

/** A file can have a box for every eight of its bytes. Of those before the media there are few. */
const MAX_BEFORE_MEDIA = 1000;
/** Twelve hours in fragments of half a second have a fifth of it. */
const MAX_BOXES = 1_000_000;

/** The heads of the first boxes of a file (ISO/IEC 14496-12 4.2), up to where it or its sense ends. */
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

/** Whether fragments come before any other media (ISO/IEC 14496-12 8.8): the index in front is then an empty one. */
function isFragmented(path: string): Promise<boolean> {
  return reading(path, async (file) => {
    for await (const { type } of boxHeads(file, MAX_BEFORE_MEDIA)) {
      if (type === 'mdat' || type === 'moof') return type === 'moof';
    }
    return false;
  });
}

/** Where the last box would end if all of it were there. */
async function boxesEnd(file: FileHandle): Promise<number> {
  let end = 0;
  for await (const { endAt } of boxHeads(file, MAX_BOXES)) end = Math.max(end, endAt ?? 0);
  return end;
}

const SEGMENT = '18538067';
const EBML_HEAD_BYTES = 256;

/** Where the segment of Matroska ends by its own length (RFC 8794 6); 0 when it does not say. */
async function segmentEnd(file: FileHandle): Promise<number> {
  const { buffer } = await file.read(Buffer.alloc(EBML_HEAD_BYTES), 0, EBML_HEAD_BYTES, 0);
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

/** What the main header of AVI says; ffprobe shortens it where the file is short. 0 when it says nothing. */
async function aviSeconds(path: string): Promise<number> {
  return reading(path, async (file) => {
    const { buffer } = await file.read(Buffer.alloc(AVI_HEAD_BYTES), 0, AVI_HEAD_BYTES, 0);
    const at = buffer.indexOf('avih', 0, 'latin1') + 8;
    if (at < 8 || at + 20 > AVI_HEAD_BYTES) return 0;
    return (buffer.readUInt32LE(at) * buffer.readUInt32LE(at + 16)) / 1e6;
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

function seconds(text: string | undefined): number {
  return Number.parseFloat(text ?? '') || 0;
}

function shown(sec: number): string {
  return sec.toFixed(1);
}
