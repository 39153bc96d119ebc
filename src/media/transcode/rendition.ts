import { open, readFile, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RenditionFiles, RungPlan } from '../contract/index.ts';
import { codecOfInitSegment } from '../live/h264.ts';
import { parsePrivatePlaylist } from '../live/playlist.ts';
import { audioCodecOfInitSegment, isWholeBoxFile, segmentDuration } from './boxes.ts';
import { AUDIO } from './command.ts';
import { storageFull } from './run.ts';

/** Less than a segment: it is on the way that the disk is full. */
const FULL_BYTES = 16 * 2 ** 20;

/**
 * Reads back what a run wrote, so that nothing half-written and nothing wrong is ever shown. ffmpeg's HLS muxer
 * says nothing of a full disk.
 *
 * @param rung null for the audio.
 * @throws {Error} when files are missing or cut short; with the code `ENOSPC` when that is why.
 */
export async function readRendition(outDir: string, rung: RungPlan | null): Promise<RenditionFiles> {
  try {
    return await read(outDir, rung);
  } catch (error) {
    const { bavail, bsize } = await statfs(outDir);
    throw bavail * bsize < FULL_BYTES ? storageFull() : error;
  }
}

async function read(outDir: string, rung: RungPlan | null): Promise<RenditionFiles> {
  const name = rung?.name ?? AUDIO;
  const dir = join(outDir, name);
  const path = join(dir, 'index.m3u8');
  const playlist = await readFile(path, 'utf8').catch(() => '');
  const { initFile, segments } = parsePrivatePlaylist(playlist);
  if (segments.length === 0 || initFile === null || !playlist.includes('#EXT-X-ENDLIST')) {
    throw new Error(`${name} has no whole playlist`);
  }
  const init = await readFile(join(dir, initFile));
  const sizes: number[] = [];
  for (const { file } of segments) sizes.push(await wholeSize(join(dir, file)));
  const exact = await exactPlaylist(dir, playlist, segments);
  if (exact !== playlist) await writeFile(path, exact);
  const codecs = rung ? codecOfInitSegment(init) : audioCodecOfInitSegment(init);
  if (codecs === null) throw new Error(`${name} has no codec`);
  const totalSec = segments.reduce((sum, { durationSec }) => sum + durationSec, 0);
  const mediaBytes = sizes.reduce((sum, size) => sum + size, 0);
  const average = bitrate(mediaBytes, totalSec);
  return {
    name,
    kind: rung ? 'VIDEO' : 'AUDIO',
    width: rung?.width ?? null,
    height: rung?.height ?? null,
    frameRate: rung?.frameRate ?? null,
    codecs,
    averageBitrate: average,
    peakBitrate: peakBitrate(segments, sizes, average),
    sizeBytes: mediaBytes + init.length + Buffer.byteLength(exact),
    files: ['index.m3u8', initFile, ...segments.map(({ file }) => file)],
  };
}

/**
 * The muxer adds up what the packets say, which is rounded in some containers and missing in others: its last
 * segment may be a fifth of a second off. `segments` and the text get the true duration.
 */
async function exactPlaylist(
  dir: string,
  playlist: string,
  segments: { file: string; durationSec: number }[],
): Promise<string> {
  const last = segments.at(-1);
  if (!last) return playlist;
  const file = await open(join(dir, last.file));
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

/** The highest of a segment, where the last short one does not count: its rate says little. */
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

/** @throws {Error} when the file is cut short: the muxers do not always tell of a full disk. */
async function wholeSize(path: string): Promise<number> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (!(await isWholeBoxFile(file, size))) throw new Error(`${path} is cut short`);
    return size;
  } finally {
    await file.close();
  }
}
