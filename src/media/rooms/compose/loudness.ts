import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inputGuard } from '../../ffmpeg/guard.ts';
import { openOutputFile } from '../../ffmpeg/output.ts';
import { runTool, type Tools } from '../../transcode/run.ts';
import { AUDIO_DECODERS } from './graph.ts';
import { LEVEL_MS, type ScannedTrack, SILENCE } from './scan.ts';
import { writeSlice } from './slice.ts';

const GB = 2 ** 30;
const LIMITS = { memoryBytes: 2 * GB, cpuSec: 20_000, fileBytes: 2 * GB };
const SOUND = 'sound.mka';
const SAMPLES = 'samples.raw';
const RATE = 8000;
/** Samples per level, the usual interval of the levels that senders signal (RFC 6464). */
const BLOCK = RATE / 50;
const BLOCK_BYTES = 2 * BLOCK;
const BLOCK_MS = 20;
const READ_BYTES = BLOCK_BYTES * 2000;
const FULL_SCALE = 32_768;

/**
 * Measures the loudness of a track by decoding it, for tracks whose packets have no levels.
 *
 * @param dir an existing folder.
 * @returns as `ScannedTrack.loudness`.
 */
export async function measureLoudness(
  tools: Tools,
  track: ScannedTrack,
  { dir: place, signal }: { dir: string; signal: AbortSignal },
): Promise<Uint8Array> {
  const dir = join(place, 'listened');
  await mkdir(dir);
  try {
    const span = { fromMs: track.spans[0]?.fromMs ?? 0, toMs: track.spans.at(-1)?.toMs ?? 0 };
    const slice = await writeSlice({ track, span, dir, name: SOUND, signal });
    if (slice === null) return new Uint8Array();
    await runTool(tools, {
      program: 'ffmpeg',
      cwd: dir,
      args: [
        ...['-nostdin', '-v', 'error', '-y', ...inputGuard(join(dir, SOUND), AUDIO_DECODERS)],
        ...['-af', `aresample=${RATE}:async=1:first_pts=0`, '-ac', '1', '-f', 's16le', SAMPLES],
      ],
      limits: LIMITS,
      signal,
      onProgress: () => {},
    });
    return await levelsIn(join(dir, SAMPLES), span.fromMs - slice.zeroMs - track.header.startedMs);
  } finally {
    await rm(dir, { recursive: true });
  }
}

/** @param atMs time of the first sample, relative to the track's first packet. */
async function levelsIn(path: string, atMs: number): Promise<Uint8Array> {
  const levels: number[] = [];
  const file = await openOutputFile(path);
  try {
    const bytes = Buffer.alloc(READ_BYTES);
    let ms = atMs;
    for (;;) {
      const { bytesRead } = await file.read(bytes, 0, READ_BYTES);
      for (let at = 0; at + BLOCK_BYTES <= bytesRead; at += BLOCK_BYTES, ms += BLOCK_MS) {
        const window = Math.floor(ms / LEVEL_MS);
        if (window >= 0) levels[window] = Math.max(levels[window] ?? 0, levelOf(bytes, at));
      }
      if (bytesRead < READ_BYTES) return Uint8Array.from(levels, (level) => level ?? 0);
    }
  } finally {
    await file.close();
  }
}

/** Returns the level, from 0 for silence to 127 for full scale. */
function levelOf(bytes: Buffer, from: number): number {
  let sum = 0;
  for (let at = from; at < from + BLOCK_BYTES; at += 2) sum += bytes.readInt16LE(at) ** 2;
  const decibels = 10 * Math.log10(sum / BLOCK / FULL_SCALE ** 2);
  return Math.max(0, Math.round(SILENCE + decibels));
}
