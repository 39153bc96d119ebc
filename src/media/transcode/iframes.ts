import type { FileHandle } from 'node:fs/promises';

/**
 * Properties of a segment written by ffmpeg, from its header (ISO/IEC 14496-12 8.8): one `moof` with one
 * track.
 */
export interface SegmentHead {
  /** Byte range of its first sample including the headers; a keyframe, as in all our segments. */
  picture: { offset: number; bytes: number };
  /** Maximum frames in any one second; null when the segment does not declare them. */
  peakRate: number | null;
}

/** First frame of a segment, which is independently decodable. */
export interface IFrame {
  file: string;
  picture: SegmentHead['picture'];
  /** Time to the first frame of the next segment. */
  durationSec: number;
}

/** Maximum size of the index and header of a segment, far above any real one. */
const HEAD_BYTES = 2 ** 18;
const HEADER_BYTES = 8;
const TFHD_BASE = 0x1;
const TFHD_DESCRIPTION = 0x2;
const TFHD_DURATION = 0x8;
const TFHD_SIZE = 0x10;
const TRUN_DATA_OFFSET = 0x1;
const TRUN_FIRST_FLAGS = 0x4;
const TRUN_DURATION = 0x100;
const TRUN_SIZE = 0x200;
const TRUN_FLAGS = 0x400;
const TRUN_TIME_OFFSET = 0x800;
/** Maximum samples of a segment: a minute at 120 fps. */
const SAMPLES_MAX = 7200;
/** Length of a second with a tolerance for rounded timestamps. */
const SECOND = 1.002;

/** @returns null for any other segment. */
export async function readSegmentHead(file: FileHandle): Promise<SegmentHead | null> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  const head = buffer.subarray(0, bytesRead);
  const moof = findBox(head, 'moof', 0, head.length);
  const traf = moof && findBox(head, 'traf', moof.body, moof.end);
  const tfhd = traf && findBox(head, 'tfhd', traf.body, traf.end);
  const trun = traf && findBox(head, 'trun', traf.body, traf.end);
  if (!moof || !tfhd || !trun) return null;
  const run = readRun(head, trun, readDefaults(head, tfhd));
  if (run === null || run.firstBytes === 0) return null;
  const bytes = run.dataOffset + run.firstBytes;
  return { picture: { offset: moof.start, bytes }, peakRate: peakRate(run.durations, timescaleOf(head)) };
}

interface Box {
  start: number;
  body: number;
  end: number;
}

function findBox(bytes: Buffer, type: string, from: number, to: number): Box | null {
  for (let at = from; at + HEADER_BYTES <= to; ) {
    const end = at + bytes.readUInt32BE(at);
    if (end < at + HEADER_BYTES || end > to) return null;
    if (bytes.toString('latin1', at + 4, at + 8) === type) return { start: at, body: at + HEADER_BYTES, end };
    at = end;
  }
  return null;
}

/** Returns the timescale of the index that ffmpeg writes before the media; null without one. */
function timescaleOf(head: Buffer): number | null {
  const sidx = findBox(head, 'sidx', 0, head.length);
  return sidx === null || sidx.body + 12 > sidx.end ? null : head.readUInt32BE(sidx.body + 8) || null;
}

/** Returns the offset of a field among those whose flags are set. */
function offsetOf(flags: number, fields: readonly [flag: number, bytes: number][], wanted: number): number {
  const before = fields.slice(
    0,
    fields.findIndex(([flag]) => flag === wanted),
  );
  return before.reduce((sum, [flag, bytes]) => sum + ((flags & flag) === 0 ? 0 : bytes), 0);
}

const TFHD_FIELDS: readonly [number, number][] = [
  [TFHD_BASE, 8],
  [TFHD_DESCRIPTION, 4],
  [TFHD_DURATION, 4],
  [TFHD_SIZE, 4],
];

interface Defaults {
  /** Null when each sample declares its own. */
  duration: number | null;
  size: number | null;
}

function readDefaults(bytes: Buffer, { body, end }: Box): Defaults {
  const flags = bytes.readUIntBE(body + 1, 3);
  const read = (flag: number) => {
    const at = body + 8 + offsetOf(flags, TFHD_FIELDS, flag);
    return (flags & flag) === 0 || at + 4 > end ? null : bytes.readUInt32BE(at);
  };
  return { duration: read(TFHD_DURATION), size: read(TFHD_SIZE) };
}

const SAMPLE_FIELDS: readonly [number, number][] = [
  [TRUN_DURATION, 4],
  [TRUN_SIZE, 4],
  [TRUN_FLAGS, 4],
  [TRUN_TIME_OFFSET, 4],
  [0, 0],
];

interface Run {
  /** Offset from the beginning of the `moof`. */
  dataOffset: number;
  firstBytes: number;
  /** Durations of the samples, in ticks. */
  durations: number[];
}

function readRun(bytes: Buffer, { body, end }: Box, defaults: Defaults): Run | null {
  const flags = bytes.readUIntBE(body + 1, 3);
  const count = bytes.readUInt32BE(body + 4);
  if ((flags & TRUN_DATA_OFFSET) === 0 || count === 0 || body + 12 > end) return null;
  const first = body + 12 + ((flags & TRUN_FIRST_FLAGS) === 0 ? 0 : 4);
  const sampleBytes = offsetOf(flags, SAMPLE_FIELDS, 0);
  if (first + sampleBytes * count > end) return null;
  const sizeAt = first + offsetOf(flags, SAMPLE_FIELDS, TRUN_SIZE);
  const durations: number[] = [];
  for (let index = 0; index < Math.min(count, SAMPLES_MAX); index += 1) {
    const own = (flags & TRUN_DURATION) !== 0;
    durations.push(own ? bytes.readUInt32BE(first + sampleBytes * index) : (defaults.duration ?? 0));
  }
  return {
    dataOffset: bytes.readInt32BE(body + 8),
    firstBytes: (flags & TRUN_SIZE) === 0 ? (defaults.size ?? 0) : bytes.readUInt32BE(sizeAt),
    durations,
  };
}

/** Returns the maximum number of samples within one second. */
function peakRate(durations: readonly number[], timescale: number | null): number | null {
  if (timescale === null) return null;
  let most = 0;
  let first = 0;
  let ticks = 0;
  for (const [last, duration] of durations.entries()) {
    ticks += duration;
    while (ticks > SECOND * timescale) {
      ticks -= durations[first] ?? 0;
      first += 1;
    }
    most = Math.max(most, last - first + 1);
  }
  const totalSec = durations.reduce((sum, duration) => sum + duration, 0) / timescale;
  return totalSec < 1 ? null : most;
}

/**
 * Renders an I-frame playlist (draft-pantos-hls-rfc8216bis 4.4.3.6), whose frames are byte ranges of the
 * rendition's segments.
 */
export function renderIFrames(initFile: string, frames: readonly IFrame[]): string {
  const target = Math.max(1, ...frames.map(({ durationSec }) => Math.ceil(durationSec)));
  return [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    `#EXT-X-TARGETDURATION:${target}`,
    '#EXT-X-MEDIA-SEQUENCE:0',
    '#EXT-X-PLAYLIST-TYPE:VOD',
    '#EXT-X-I-FRAMES-ONLY',
    `#EXT-X-MAP:URI="${initFile}"`,
    ...frames.flatMap(({ file, picture, durationSec }) => [
      `#EXTINF:${durationSec.toFixed(6)},`,
      `#EXT-X-BYTERANGE:${picture.bytes}@${picture.offset}`,
      file,
    ]),
    '#EXT-X-ENDLIST',
    '',
  ].join('\n');
}

/** Returns the peak bitrate of the frames, each over its duration, in bits per second. */
export function peakIFrameBitrate(frames: readonly IFrame[]): number {
  const rates = frames.map(({ picture, durationSec }) => (picture.bytes * 8) / Math.max(durationSec, 0.001));
  return Math.round(Math.max(...rates));
}
