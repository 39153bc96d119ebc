/**
 * Measures the time from the last byte of an upload to READY, on a separate platform: `node
 * bench/processing.ts` (some seven minutes on two quiet cores), or only for some source durations in seconds:
 * `node bench/processing.ts 60 600`.
 *
 * - a whole job, upload to READY, against the bare ffmpeg command with the same rungs, and the time until
 *   playable: of a
 * short source, and of one that is analyzed. From eight minutes on (`node bench/processing.ts 480`) the
 * lowest rung is
 * encoded first;
 * - uploaded to first playable, for a ten-minute file whose top rung is copied; idle, and while an encode has
 *   the only
 * slot.
 */
import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { request } from 'undici';
import { createPartner, type Partner, type VideoData } from '../test/harness/partner.ts';
import { startPlatform } from '../test/harness/platform.ts';
import { machineSeconds } from './support/processes.ts';
import { median, report } from './support/report.ts';

const run = promisify(execFile);
const ROUNDS = 3;
/**
 * Duration beyond which fixed costs and pauses are negligible, but changes in the speed of the machine are
 * not.
 */
const LONG_SEC = 120;
const LONG_ROUNDS = 2;
/**
 * Poll intervals: short for a result in milliseconds, longer for READY so that polling does not distort the
 * figure.
 */
const POLL_MS = { playable: 20, ready: 100 };
/** Time limit, and its addition for each second of a source. */
const LIMIT_MS = { least: 120_000, perSec: 3000 };
const PIECE_SEC = 10;
/** Duration that makes fixed costs negligible, and is enough for the analysis. */
const SHORT_SEC = 30;
const ENCODED_SEC = [SHORT_SEC, 240];
const folder = await mkdtemp(join(tmpdir(), 'marquee-bench-'));

/** Creates a source by repeating ten seconds of 720p at 3 Mbps. */
async function makeSource(name: string, seconds: number, gop: number): Promise<string> {
  const piece = join(folder, `piece-${gop}.mp4`);
  const path = join(folder, name);
  await run('ffmpeg', [
    ...['-v', 'error', '-y', '-f', 'lavfi', '-i', 'testsrc2=s=1280x720:r=30'],
    ...['-f', 'lavfi', '-i', 'sine=f=440:r=48000', '-t', String(PIECE_SEC)],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-b:v', '3M', '-maxrate', '3M', '-bufsize', '3M'],
    ...['-g', String(gop), '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-b:a', '128k', piece],
  ]);
  const loops = String(Math.ceil(seconds / PIECE_SEC) - 1);
  await run('ffmpeg', ['-v', 'error', '-y', '-stream_loop', loops, '-i', piece, '-c', 'copy', path]);
  return path;
}

/** @returns the video, and the time of the response to its last byte. */
async function upload(partner: Partner, path: string): Promise<{ id: string; atMs: number }> {
  const { size } = await stat(path);
  const { uploadUrl, videoId } = await partner.createUpload({ filename: 'bench.mp4', sizeBytes: size });
  const headers = { 'content-length': String(size) };
  const answer = await request(uploadUrl, { method: 'PUT', headers, body: createReadStream(path) });
  if (answer.statusCode >= 300) throw new Error(`${answer.statusCode} ${await answer.body.text()}`);
  await answer.body.dump();
  return { id: videoId, atMs: performance.now() };
}

async function waitFor(
  partner: Partner,
  id: string,
  so: (video: VideoData) => boolean,
  pollMs = POLL_MS.ready,
  limitMs = LIMIT_MS.least,
): Promise<number> {
  const deadlineMs = performance.now() + limitMs;
  for (;;) {
    const video = await partner.video(id);
    if (performance.now() > deadlineMs) throw new Error(`${id} is ${video.status} after ${limitMs} ms`);
    if (video.status === 'FAILED') throw new Error(JSON.stringify(video.error));
    if (so(video)) return performance.now();
    await sleep(pollMs);
  }
}

const isReady = ({ status }: VideoData) => status === 'READY';
const isPlayable = ({ playbackUrl }: VideoData) => playbackUrl !== null;

interface Duration {
  ms: number;
  processorSec: number;
}

/** Wall time, and the processor's time of the whole machine, since `clock` was started. */
function startClock(): () => Duration {
  const [startedMs, processorSec] = [performance.now(), machineSeconds()];
  return () => ({ ms: performance.now() - startedMs, processorSec: machineSeconds() - processorSec });
}

/** Measures the bare command with the same rungs. */
async function bareLadder(path: string, rungs: VideoData['renditions']): Promise<Duration> {
  const names = rungs.map((_, i) => `[v${i}]`);
  const graph = [
    `[0:v]split=${rungs.length}${names.map((name) => `${name.slice(0, -1)}i]`).join('')}`,
    ...rungs.map(({ width, height }, i) => `[v${i}i]scale=${width}:${height}:flags=bicubic${names[i]}`),
  ].join(';');
  const took = startClock();
  await run('ffmpeg', [
    ...['-v', 'error', '-nostdin', '-y', '-i', path, '-filter_complex', graph],
    ...names.flatMap((name, i) => [
      ...[
        '-map',
        name,
        '-c:v',
        'libx264',
        '-preset',
        'veryfast',
        '-crf',
        '23',
        '-g',
        '60',
        '-sc_threshold',
        '0',
      ],
      ...['-f', 'hls', '-hls_time', '6', '-hls_playlist_type', 'vod', '-hls_segment_type', 'fmp4'],
      ...['-hls_fmp4_init_filename', `init-${i}.mp4`, join(folder, `bare-${i}.m3u8`)],
    ]),
  ]);
  return took();
}

/** Upload to READY of a source none of which can be copied, and when its first rung could be watched. */
async function readyRatio(partner: Partner, seconds: number): Promise<void> {
  const path = await makeSource(`encoded-${seconds}.mp4`, seconds, 600);
  const limitMs = Math.max(LIMIT_MS.least, seconds * LIMIT_MS.perSec);
  const rounds = seconds >= LONG_SEC ? LONG_ROUNDS : ROUNDS;
  const ready: Duration[] = [];
  const playable: number[] = [];
  const bare: Duration[] = [];
  for (let round = 0; round < rounds; round++) {
    const { id, atMs } = await upload(partner, path);
    const took = startClock();
    playable.push((await waitFor(partner, id, isPlayable, POLL_MS.ready, limitMs)) - atMs);
    await waitFor(partner, id, isReady, POLL_MS.ready, limitMs);
    ready.push(took());
    bare.push(await bareLadder(path, (await partner.video(id)).renditions));
  }
  const of = seconds === SHORT_SEC ? '' : `.${seconds}s`;
  report({
    name: `processing.ready.ratio${of}`,
    value: sum(ready, 'ms') / sum(bare, 'ms'),
    unit: 'x bare ffmpeg, wall',
    target: '<= 1.15',
  });
  report({
    name: `processing.ready.processor${of}`,
    value: sum(ready, 'processorSec') / sum(bare, 'processorSec'),
    unit: 'x bare ffmpeg, processor time of the machine',
    target: '<= 1.15',
  });
  report({
    name: `processing.playable.share${of}`,
    value: playable.reduce((total, ms) => total + ms, 0) / sum(ready, 'ms'),
    unit: 'of the time to READY',
    target: '<= 1',
  });
}

const sum = (all: Duration[], part: keyof Duration) => all.reduce((total, took) => total + took[part], 0);

const platform = await startPlatform({
  dataDir: join(folder, 'data'),
  environment: { TRANSCODE_CONCURRENCY: '1', LOG_LEVEL: 'error' },
});
try {
  const partner = createPartner(platform);
  const long = await makeSource('copied.mp4', 600, 60);
  const short = await makeSource('encoded.mp4', SHORT_SEC, 600);
  const asked = process.argv
    .slice(2)
    .map(Number)
    .filter((seconds) => seconds > 0);
  for (const seconds of asked.length > 0 ? asked : ENCODED_SEC) await readyRatio(partner, seconds);

  for (const kind of asked.length > 0 ? [] : (['idle', 'busy'] as const)) {
    const waits: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const busy = kind === 'busy' ? await upload(partner, short) : null;
      if (busy !== null) await waitFor(partner, busy.id, ({ status }) => status === 'PROCESSING');
      const { id, atMs } = await upload(partner, long);
      waits.push((await waitFor(partner, id, isPlayable, POLL_MS.playable)) - atMs);
      await partner.call('DELETE', `/videos/${id}`);
      if (busy !== null) await waitFor(partner, busy.id, isReady);
    }
    report({
      name: `processing.playable.${kind}.10min`,
      value: median(waits) / 1000,
      unit: 's from the last byte',
      target: '<= 3',
    });
  }
} finally {
  await platform.stop();
  await rm(folder, { recursive: true, force: true });
}
