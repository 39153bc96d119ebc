import { type FileHandle, statfs } from 'node:fs/promises';
import type { AudioPlan, Hdr10, RenditionFiles, RungPlan, SourceInfo } from '../contract/index.ts';
import { openOutput, readOutput, UnsafeOutputError, writeOutput } from '../ffmpeg/output.ts';
import {
  audioCodecOfInitSegment,
  isWholeBoxFile,
  segmentDuration,
  sizeOfInitSegment,
  videoCodecOfInitSegment,
} from './boxes.ts';
import { MAX_HOLD_SEC } from './eligibility.ts';
import { rangeOf } from './encoders.ts';
import { withHdr10Boxes } from './hdr10-boxes.ts';
import { type PrivateSegment, parsePrivatePlaylist } from './hls-playlist.ts';
import { withLongerLast } from './hold.ts';
import { type IFrame, peakIFrameBitrate, readSegmentHead, renderIFrames } from './iframes.ts';
import { diskFullError } from './run.ts';

/** Free space, less than a segment, below which the disk counts as full. */
const FULL_BYTES = 16 * 2 ** 20;
/** Maximum size of a playlist; twelve hours of short segments take half a megabyte. */
const PLAYLIST_MAX_BYTES = 16 * 2 ** 20;
const INIT_MAX_BYTES = 2 ** 20;
const IFRAMES = 'iframes.m3u8';
/** Ratio that counts as clearly faster: one second of 29.97 fps may contain 30 frames. */
const CLEARLY_FASTER = 1.1;

/**
 * Verifies the output of a run, so that incomplete or invalid files are never published. ffmpeg's HLS muxer
 * does not report a full disk.
 *
 * @throws {Error} when files are missing or truncated; with the code `ENOSPC` when a full disk is the reason.
 */
export async function readRendition(
  outDir: string,
  plan: RungPlan | AudioPlan,
  source: SourceInfo,
): Promise<RenditionFiles> {
  try {
    const videoRange = 'width' in plan ? rangeOf(source, plan) : 'SDR';
    const hdr10 = videoRange === 'PQ' ? (source.video.hdr10 ?? null) : null;
    return { ...(await read(outDir, plan, { hdr10, source })), videoRange };
  } catch (error) {
    const { bavail, bsize } = await statfs(outDir);
    throw bavail * bsize < FULL_BYTES ? diskFullError() : error;
  }
}

async function read(
  outDir: string,
  plan: RungPlan | AudioPlan,
  { hdr10, source }: { hdr10: Hdr10 | null; source: SourceInfo },
): Promise<Omit<RenditionFiles, 'videoRange'>> {
  const { name } = plan;
  const rung = 'width' in plan ? plan : null;
  const path = (file: string) => `${name}/${file}`;
  const playlist = await playlistIn(outDir, path('index.m3u8'));
  const { initFile, segments } = parsePrivatePlaylist(playlist);
  if (segments.length === 0 || initFile === null || !playlist.includes('#EXT-X-ENDLIST')) {
    throw new Error(`${name} has no complete playlist`);
  }
  const written = await readOutput(outDir, path(initFile), INIT_MAX_BYTES);
  const init = hdr10 === null ? written : withHdr10Boxes(written, hdr10);
  if (init.length > written.length) await writeOutput(outDir, path(initFile), init);
  if (rung !== null) await holdLast(outDir, rung, source, segments);
  const sizes: number[] = [];
  for (const { file } of segments) sizes.push(await wholeSize(outDir, path(file)));
  const exact = await exactPlaylist((file) => openOutput(outDir, path(file)), playlist, segments);
  if (exact !== playlist) await writeOutput(outDir, path('index.m3u8'), exact);
  const pictures = rung && (await writeIFrames((file) => openOutput(outDir, path(file)), segments, initFile));
  if (pictures) await writeOutput(outDir, path(IFRAMES), pictures.playlist);
  const codecs = rung ? videoCodecOfInitSegment(init) : audioCodecOfInitSegment(init);
  if (codecs === null) throw new Error(`${name} has no codec`);
  const totalSec = segments.reduce((sum, { durationSec }) => sum + durationSec, 0);
  const mediaBytes = sizes.reduce((sum, size) => sum + size, 0);
  const average = bitrate(mediaBytes, totalSec);
  return {
    name,
    kind: rung ? 'VIDEO' : 'AUDIO',
    ...sizeOf(init, rung),
    durationSec: totalSec,
    frameRate: rung && fastest(rung.frameRate, pictures?.peakRate ?? 0),
    codecs,
    averageBitrate: average,
    peakBitrate: peakBitrate(segments, sizes, average),
    iframeBitrate: pictures?.bitrate ?? null,
    sizeBytes: mediaBytes + init.length + Buffer.byteLength(exact),
    files: [...['index.m3u8', initFile, ...(pictures ? [IFRAMES] : [])], ...segments.map(({ file }) => file)],
  };
}

/** Bytes read from the end of a rendition: a few seconds of the highest resolution. */
const SEGMENT_MAX_BYTES = 2 ** 28;

/**
 * Extends the last frame of a rendition that ends a little early to the end of the video
 * (docs/decisions/transcoding.md#one-length).
 */
async function holdLast(
  outDir: string,
  { name, frameRate }: RungPlan,
  { durationSec, video }: SourceInfo,
  segments: readonly PrivateSegment[],
): Promise<void> {
  const last = segments.at(-1);
  if (last === undefined || video.span === undefined) return;
  const path = `${name}/${last.file}`;
  const file = await openOutput(outDir, path);
  const lastSec = await segmentDuration(file).finally(() => file.close());
  const beforeSec = segments.slice(0, -1).reduce((sum, segment) => sum + segment.durationSec, 0);
  const missingSec = durationSec - beforeSec - (lastSec ?? last.durationSec);
  if (missingSec <= 1 / frameRate || missingSec > MAX_HOLD_SEC + 1 / frameRate) return;
  const held = withLongerLast(await readOutput(outDir, path, SEGMENT_MAX_BYTES), missingSec);
  if (held !== null) await writeOutput(outDir, path, held);
}

/** Returns the size in the muxer's output, which is that of the file for a copy. */
function sizeOf(init: Buffer, rung: RungPlan | null): { width: number | null; height: number | null } {
  if (rung === null) return { width: null, height: null };
  return sizeOfInitSegment(init) ?? { width: rung.width, height: rung.height };
}

interface Pictures {
  playlist: string;
  bitrate: number;
  /** Frames of the fastest second; 0 when unknown. */
  peakRate: number;
}

/**
 * Writes the I-frame playlist. Returns null when a segment does not declare the position of its first frame.
 */
async function writeIFrames(
  openSegment: (file: string) => Promise<FileHandle>,
  segments: readonly PrivateSegment[],
  initFile: string,
): Promise<Pictures | null> {
  const frames: IFrame[] = [];
  let peakRate = 0;
  for (const { file: name, durationSec } of segments) {
    const file = await openSegment(name);
    const head = await readSegmentHead(file).finally(() => file.close());
    if (head === null) return null;
    frames.push({ file: name, picture: head.picture, durationSec });
    peakRate = Math.max(peakRate, head.peakRate ?? 0);
  }
  return { playlist: renderIFrames(initFile, frames), bitrate: peakIFrameBitrate(frames), peakRate };
}

/** Returns FRAME-RATE, the fastest rate, which the plan may not know for a variable rate. */
function fastest(planned: number, peakRate: number): number {
  return peakRate > planned * CLEARLY_FASTER ? peakRate : planned;
}

/**
 * Corrects the playlist. The muxer sums up packet durations, which are rounded in some containers and missing
 * in others: its last segment may be a fifth of a second off. `segments` and the text get the exact duration.
 */
async function exactPlaylist(
  openSegment: (file: string) => Promise<FileHandle>,
  playlist: string,
  segments: { file: string; durationSec: number }[],
): Promise<string> {
  const last = segments.at(-1);
  if (!last) return playlist;
  const file = await openSegment(last.file);
  try {
    const durationSec = await segmentDuration(file);
    if (durationSec === null || durationSec <= 0) return playlist;
    last.durationSec = durationSec;
  } finally {
    await file.close();
  }
  // RFC 8216 lets a segment be half a second longer; some players and checkers do not.
  const target = Math.max(...segments.map((segment) => Math.ceil(segment.durationSec)), 1);
  return playlist
    .replace(/#EXTINF:[\d.]+,\n(?=[^\n]*\n#EXT-X-ENDLIST)/, `#EXTINF:${last.durationSec.toFixed(6)},\n`)
    .replace(/^#EXT-X-TARGETDURATION:\d+/m, `#EXT-X-TARGETDURATION:${target}`);
}

/** Empty when there is none. */
async function playlistIn(outDir: string, path: string): Promise<string> {
  try {
    return (await readOutput(outDir, path, PLAYLIST_MAX_BYTES)).toString('utf8');
  } catch (error) {
    if (error instanceof UnsafeOutputError) throw error;
    return '';
  }
}

/** Returns the highest bitrate of a segment, ignoring a short last one, whose rate is not representative. */
function peakBitrate(
  segments: readonly { durationSec: number }[],
  sizes: readonly number[],
  average: number,
): number {
  const target = Math.max(...segments.map(({ durationSec }) => durationSec));
  const rates = segments.map(({ durationSec }, index) =>
    durationSec >= target / 2 ? bitrate(sizes[index] ?? 0, durationSec) : 0,
  );
  return Math.max(average, ...rates);
}

function bitrate(bytes: number, sec: number): number {
  return Math.round((bytes * 8) / Math.max(sec, 0.001));
}

/** @throws {Error} when the file is truncated: the muxers do not always report a full disk. */
async function wholeSize(outDir: string, path: string): Promise<number> {
  const file = await openOutput(outDir, path);
  try {
    const { size } = await file.stat();
    if (!(await isWholeBoxFile(file, size))) throw new Error(`${path} is truncated`);
    return size;
  } finally {
    await file.close();
  }
}
