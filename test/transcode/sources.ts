import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { SourceInfo, Transcoder } from '../../src/media/contract/index.ts';
import { createGuard, type Guard } from '../../src/media/ffmpeg/guard.ts';
import { createTranscoder } from '../../src/media/transcode/index.ts';
import { createLogger } from '../../src/platform/logger.ts';

const run = promisify(execFile);

export const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];

export function pictures(size: string, rate: number | string, sec: number): string[] {
  return ['-f', 'lavfi', '-i', `testsrc2=s=${size}:r=${rate}:d=${sec}`];
}

export function tone(sec: number, hertz = 440): string[] {
  return ['-f', 'lavfi', '-i', `sine=${hertz}:d=${sec}:r=48000`];
}

/** Runs ffmpeg; the last argument is the name of a file in `dir`. @returns its path. */
export async function make(dir: string, ...args: string[]): Promise<string> {
  const path = join(dir, args.pop() ?? '');
  await run('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args, path]);
  return path;
}

/** Matrix of a track header (ISO/IEC 14496-12 8.3.2) for rotated or mirrored video. */
export const TURNED = [0, 1, 0, -1, 0, 0, 0, 0, 0x4000];
export const MIRRORED = [1, 0, 0, 0, -1, 0, 0, 0, 0x4000];

/** Copies an MP4 with this matrix to the file `name` in its folder. @returns its path. */
export async function withMatrix(path: string, matrix: readonly number[], name: string): Promise<string> {
  const bytes = await readFile(path);
  const at = bytes.indexOf('tkhd', 0, 'latin1') + 44;
  for (const [index, value] of matrix.entries()) bytes.writeInt32BE(value * 0x10000, at + index * 4);
  const turned = join(dirname(path), name);
  await writeFile(turned, bytes);
  return turned;
}

let guard: Promise<Guard> | null = null;

/** Returns the guard with the sandbox of this machine; detected once for all tests of a file. */
export function testGuard(): Promise<Guard> {
  guard ??= createGuard();
  return guard;
}

/** Returns a guard whose programs run at normal priority. */
export async function normalPriorityGuard(): Promise<Guard> {
  const known = await testGuard();
  return {
    weakness: known.weakness,
    async start(...asked) {
      const launch = await known.start(...asked);
      const { command } = launch;
      return { ...launch, command: command[0] === 'nice' ? command.slice(3) : command };
    },
  };
}

let plain: Transcoder | null = null;

/** Returns a transcoder; the one without options is shared, because each starts ffmpeg four times to check it. */
export function testTranscoder(options?: Partial<Parameters<typeof createTranscoder>[0]>): Transcoder {
  const log = createLogger('silent');
  const tools = { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe', guard: testGuard, threads: 1, log };
  if (options !== undefined) return createTranscoder({ ...tools, ...options });
  plain ??= createTranscoder(tools);
  return plain;
}

/** Presentation times of the packets of one kind, sorted, in seconds. */
export async function packetTimes(path: string, kind: 'v:0' | 'a:0' = 'v:0'): Promise<number[]> {
  const args = ['-v', 'error', '-select_streams', kind, '-show_entries', 'packet=pts_time', '-of', 'csv=p=0'];
  const { stdout } = await run('ffprobe', [...args, path], { maxBuffer: 64 * 2 ** 20 });
  const times = stdout.match(/-?[\d.]+/g) ?? [];
  return times.map(Number).toSorted((a, b) => a - b);
}

/** Returns ffprobe's data of the first stream of a file. */
export async function streamOf(path: string): Promise<Record<string, unknown>> {
  const { stdout } = await run('ffprobe', ['-v', 'error', '-show_streams', '-of', 'json', path]);
  return Object(JSON.parse(stdout).streams[0]);
}

/** Returns ffprobe's data of the only stream of a file, and the sorted presentation times of its packets. */
export async function readTrack(path: string): Promise<{ stream: Record<string, unknown>; times: number[] }> {
  const args = ['-v', 'error', '-show_streams', '-show_entries', 'packet=pts_time', '-of', 'json', path];
  const { stdout } = await run('ffprobe', args, { maxBuffer: 64 * 2 ** 20 });
  const { streams, packets } = JSON.parse(stdout);
  const times = Array.from(Object.values(Object(packets)), (packet) => Number(Object(packet).pts_time));
  return { stream: Object(streams[0]), times: times.toSorted((a, b) => a - b) };
}

/** Asserts that everything in these files can be decoded without an error message. */
export async function assertDecodes(...paths: string[]): Promise<void> {
  const inputs = paths.flatMap((path) => ['-i', path]);
  const maps = paths.flatMap((_, index) => ['-map', String(index)]);
  const { stderr } = await run('ffmpeg', ['-nostdin', '-v', 'error', ...inputs, ...maps, '-f', 'null', '-']);
  assert.equal(stderr, '');
}

/** A source for the pure functions. */
export function sourceInfo(
  video: Partial<SourceInfo['video']>,
  rest: Partial<Omit<SourceInfo, 'video'>> = {},
): SourceInfo {
  return {
    durationSec: 60,
    sizeBytes: 1_000_000,
    bitrate: 1_000_000,
    zeroSec: 0,
    video: {
      streamIndex: 0,
      codec: 'h264',
      codecs: null,
      profile: 'High',
      pixelFormat: 'yuv420p',
      width: 1920,
      height: 1080,
      rotation: 0,
      frameRate: 30,
      isVariableFrameRate: false,
      range: 'SDR',
      isInterlaced: false,
      bitrate: 5_000_000,
      ...video,
    },
    audio: [],
    captions: [],
    chapters: [],
    notes: [],
    copyRefusal: 'codec',
    canSplit: false,
    ...rest,
  };
}
