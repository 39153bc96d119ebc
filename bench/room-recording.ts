/**
 * Measures composing the recording of a room of three participants, against the bare ffmpeg command that
 * composes the same video of the same tracks in one pass: `node bench/room-recording.ts`. Prints one JSON
 * line for each figure.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RecordedRoomTrack } from '../src/media/contract/index.ts';
import { createRoomComposer } from '../src/media/rooms/compose/composer.ts';
import { createLogger } from '../src/platform/logger.ts';
import { writeMjr } from '../test/rooms/mjr-files.ts';
import { median, report } from './support/report.ts';

const run = promisify(execFile);
const ROUNDS = 3;
const THREADS = 2;
const SECONDS = 120;
const START_MS = 1_790_000_000_000;
const PEOPLE = ['ada', 'bob', 'eve'];
const root = await mkdtemp(join(tmpdir(), 'bench-room-recording-'));
const ffmpeg = (args: string[]) => run('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args], { cwd: root });
const composer = createRoomComposer({
  ffmpeg: 'ffmpeg',
  ffprobe: 'ffprobe',
  // The sandbox does not report the resource usage of its programs.
  guard: async () => ({
    weakness: null,
    start: async (program) => ({ command: [program], isSandboxed: false }),
  }),
  threads: THREADS,
  log: createLogger('silent', { process: 'bench' }),
});

/** Creates the tracks of a camera of 640 by 360, as a file for ffmpeg and as Janus writes it. */
async function makeTracks(): Promise<RecordedRoomTrack[]> {
  const tracks: RecordedRoomTrack[] = [];
  for (const [index, identity] of PEOPLE.entries()) {
    await ffmpeg([
      ...[
        '-f',
        'lavfi',
        '-i',
        `testsrc2=s=640x360:r=30:d=${SECONDS},noise=alls=12:allf=t,hue=h=${index * 90}`,
      ],
      ...['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '1M', '-g', '60'],
      ...['-auto-alt-ref', '0', `${identity}.ivf`],
    ]);
    const tone = ['-f', 'lavfi', '-i', `sine=f=${300 + index * 200}:d=${SECONDS}:r=48000`];
    await ffmpeg([...tone, '-c:a', 'libopus', '-b:a', '32k', `${identity}.ogg`]);
    const camera = join(root, `${identity}-camera.mjr`);
    const microphone = join(root, `${identity}-microphone.mjr`);
    await writeMjr(camera, 'vp8', ivfFrames(await readFile(join(root, `${identity}.ivf`))), {
      startMs: START_MS,
    });
    await writeMjr(microphone, 'opus', silence(), { startMs: START_MS });
    tracks.push({ identity, name: identity, source: 'CAMERA', path: camera });
    tracks.push({ identity, name: identity, source: 'MICROPHONE', path: microphone });
  }
  return tracks;
}

function ivfFrames(ivf: Buffer) {
  const frames: { ms: number; data: Buffer }[] = [];
  for (let at = 32; at + 12 <= ivf.length; ) {
    const bytes = ivf.readUInt32LE(at);
    frames.push({ ms: (ivf.readUInt32LE(at + 4) * 1000) / 30, data: ivf.subarray(at + 12, at + 12 + bytes) });
    at += 12 + bytes;
  }
  return frames;
}

function silence() {
  const data = Buffer.from('f8fffe', 'hex');
  return Array.from({ length: SECONDS * 50 }, (_, index) => ({ ms: index * 20, data }));
}

/** Composes the same video and audio with plain ffmpeg, from files that need no demuxing or joining. */
async function bare(): Promise<void> {
  const inputs = PEOPLE.flatMap((name) => [
    '-threads',
    String(THREADS),
    '-i',
    `${name}.ivf`,
    '-i',
    `${name}.ogg`,
  ]);
  // Tiles as the composer lays them out: two above, one below.
  const places = ['4:62', '644:62', '324:422'];
  const chains = [
    'color=c=0x14171c:s=1280x720:r=30,format=yuv420p[b0]',
    ...PEOPLE.map((_, index) => `[${2 * index}:v]scale=588:330,format=yuv420p[t${index}]`),
    ...places.map((at, index) => {
      const [x, y] = at.split(':');
      return `[b${index}][t${index}]overlay=x=${x}:y=${y}:eval=init[b${index + 1}]`;
    }),
    `[b3]setsar=1,format=yuv420p[v]`,
    '[1:a][3:a][5:a]amix=inputs=3:normalize=0,alimiter=level=disabled:limit=0.95[a]',
  ];
  await ffmpeg([
    ...['-filter_complex_threads', String(THREADS), ...inputs, '-filter_complex', chains.join(';')],
    ...[
      '-map',
      '[v]',
      '-frames:v',
      String(SECONDS * 30),
      '-c:v',
      'libx264',
      '-preset',
      'veryfast',
      '-crf',
      '21',
    ],
    ...['-profile:v', 'high', '-bf', '0', '-g', '60', '-threads', String(THREADS)],
    ...['-map', '[a]', '-c:a', 'aac', '-b:a', '128k', 'bare.mp4'],
  ]);
}

async function childCpuSec(): Promise<number> {
  const stat = await readFile('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

async function cost(work: () => Promise<unknown>) {
  const [own, programs, startedMs] = [process.cpuUsage(), await childCpuSec(), performance.now()];
  await work();
  const { user, system } = process.cpuUsage(own);
  const cpuSec = (user + system) / 1e6 + (await childCpuSec()) - programs;
  return { cpuSec, wallSec: (performance.now() - startedMs) / 1000 };
}

try {
  const tracks = await makeTracks();
  const [ours, theirs] = [[], []] as [number[], number[]];
  const walls: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    theirs.push((await cost(bare)).cpuSec);
    const dir = join(root, `round-${round}`);
    await mkdir(dir);
    const { signal } = new AbortController();
    const { cpuSec, wallSec } = await cost(() =>
      composer.compose({ tracks, dir, layout: 'GRID', height: 720, maxSec: SECONDS + 10, signal }),
    );
    ours.push(cpuSec);
    walls.push(wallSec);
    await rm(dir, { recursive: true });
  }
  const hours = SECONDS / 3600;
  const name = 'recording of a room of three, composed';
  report({ name, value: median(ours) / 60 / hours, unit: 'CPU minutes an hour', target: '<= 60' });
  report({ name, value: median(walls) / 60 / hours, unit: 'minutes an hour', target: '<= 30' });
  const unit = 'times the CPU of the bare command';
  report({ name, value: median(ours) / median(theirs), unit, target: '<= 1.1' });
} finally {
  await rm(root, { recursive: true });
}
