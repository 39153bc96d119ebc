/**
 * Measures the transcoder against the bare ffmpeg command, and the savings of its plan, in one run: `node
 * bench/transcode.ts`. Prints one JSON line for each figure.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RungPlan, SourceChunk, SourceInfo } from '../src/media/contract/index.ts';
import { packetTimes, testTranscoder } from '../test/transcode/sources.ts';
import { type Cost, cost, unguarded } from './support/cost.ts';
import { median, report } from './support/report.ts';

const run = promisify(execFile);
const ROUNDS = 3;
const THREADS = 2;
const SECONDS = 20;
const transcoder = testTranscoder({ threads: THREADS, guard: unguarded });
const signal = new AbortController().signal;
const root = await mkdtemp(join(tmpdir(), 'bench-transcode-'));

const folder = (name: string) => mkdtemp(join(root, `${name}-`));
const ffmpeg = (args: string[], cwd = root) =>
  run('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args], { cwd });

const ratio = (costs: Cost[], baseline: Cost[], of: keyof Cost) =>
  median(costs.map((entry) => entry[of])) / median(baseline.map((entry) => entry[of]));

/** The bare command of the same rungs, as one would type it. */
async function bare(input: string, rungs: readonly RungPlan[]): Promise<void> {
  const cwd = await folder('bare');
  const split = `[0:v:0]split=${rungs.length}${rungs.map((_, i) => `[i${i}]`).join('')}`;
  const scales = rungs.map(({ width, height }, i) => `[i${i}]scale=${width}:${height}:flags=bicubic[v${i}]`);
  const hls = (name: string) => [
    ...['-f', 'hls', '-hls_time', '6', '-hls_playlist_type', 'vod', '-hls_segment_type', 'fmp4'],
    ...['-hls_segment_filename', `${name}/s_%05d.m4s`, `${name}/index.m3u8`],
  ];
  for (const { name } of [...rungs, { name: 'audio' }]) await mkdir(join(cwd, name));
  const videos = rungs.flatMap(({ name, bitrate, frameRate }, i) => [
    ...['-map', `[v${i}]`, '-c:v', 'libx264', '-preset', 'veryfast', '-profile:v', 'high', '-crf', '23'],
    ...['-maxrate', String(bitrate), '-bufsize', String(bitrate * 2), '-threads', String(THREADS)],
    ...[
      '-g',
      String(frameRate * 2),
      '-keyint_min',
      String(frameRate * 2),
      '-sc_threshold',
      '0',
      ...hls(name),
    ],
  ]);
  const sound = ['-map', '0:a:0', '-c:a', 'aac', '-b:a', '128k', ...hls('audio')];
  const graph = ['-filter_complex_threads', String(THREADS), '-filter_complex', [split, ...scales].join(';')];
  await ffmpeg(['-threads', String(THREADS), '-i', input, ...graph, ...videos, ...sound], cwd);
}

/** Runs the jobs of an uploaded file: first the lowest rung and the images, then the others. */
async function whole(input: string): Promise<void> {
  const source = await transcoder.probe(input, signal);
  const { rungs, audio } = plainPlan(source);
  const run = { input, source, signal, alignToSource: false };
  const first = { ...run, outDir: await folder('first'), rungs: rungs.slice(-1), audio };
  await transcoder.encodeWithImages(first);
  await transcoder.encode({ ...run, outDir: await folder('rest'), rungs: rungs.slice(0, -1), audio: [] });
}

async function each(input: string, source: SourceInfo): Promise<void> {
  const { rungs } = plainPlan(source);
  for (const rung of rungs) {
    const outDir = await folder('each');
    await transcoder.encode({
      input,
      source,
      outDir,
      signal,
      rungs: [rung],
      audio: [],
      alignToSource: false,
    });
  }
}

async function together(input: string, source: SourceInfo): Promise<void> {
  const { rungs } = plainPlan(source);
  const outDir = await folder('together');
  await transcoder.encode({ input, source, outDir, signal, rungs, audio: [], alignToSource: false });
}

/** Returns a plan that encodes everything, including audio. */
function plainPlan(source: SourceInfo) {
  const { rungs, audio } = transcoder.plan(source, 1080);
  return {
    rungs: rungs.map((rung) => ({ ...rung, isCopy: false, bitrate: Math.min(rung.bitrate, 3_000_000) })),
    audio: audio.map((one) => ({ ...one, isCopy: false, bitrate: 128_000 })),
  };
}

async function ladder(input: string): Promise<void> {
  const source = await transcoder.probe(input, signal);
  const { rungs } = plainPlan(source);
  const costs: Record<'bare' | 'job' | 'together' | 'each', Cost[]> = {
    bare: [],
    job: [],
    together: [],
    each: [],
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    costs.bare.push(await cost(() => bare(input, rungs)));
    costs.job.push(await cost(() => whole(input)));
    costs.together.push(await cost(() => together(input, source)));
    costs.each.push(await cost(() => each(input, source)));
  }
  const { bare: plain, job, together: one, each: many } = costs;
  report({
    name: 'ladder job / bare ffmpeg, CPU',
    value: ratio(job, plain, 'cpuSec'),
    unit: 'ratio',
    target: '<= 1.15',
  });
  report({
    name: 'ladder job / bare ffmpeg, wall',
    value: ratio(job, plain, 'wallSec'),
    unit: 'ratio',
    target: '<= 1.15',
  });
  report({
    name: 'one process / one for each rung, CPU',
    value: ratio(one, many, 'cpuSec'),
    unit: 'ratio',
    target: '<= 0.85',
  });
}

/** Measures the time from the stored file to a playable rung. */
async function copyTop(input: string): Promise<void> {
  const long = join(root, 'ten-minutes.mp4');
  await ffmpeg(['-stream_loop', String(600 / SECONDS - 1), '-i', input, '-c', 'copy', long]);
  const costs: Cost[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    costs.push(
      await cost(async () => {
        const source = await transcoder.probe(long, signal);
        const { rungs, audio } = transcoder.plan(source, 1080);
        const rung = rungs.find(({ isCopy }) => isCopy);
        if (!rung) throw new Error(`not copied: ${source.copyRefusal}`);
        await transcoder.copyTop({ input: long, source, outDir: await folder('top'), signal, rung, audio });
      }),
    );
  }
  const value = median(costs.map(({ wallSec }) => wallSec));
  report({ name: 'probe and copied top of ten minutes', value, unit: 's', target: '<= 3' });
}

/** Counts frames lost or duplicated by cutting, and measures their displacement. */
async function exactness(name: string, args: string[]): Promise<void> {
  const input = join(root, args.at(-1) ?? '');
  await ffmpeg([...args.slice(0, -1), input]);
  const source = await transcoder.probe(input, signal);
  const [top] = transcoder.plan(source, 1080).rungs;
  const cutDir = await folder('cut');
  const chunks = await transcoder.split({ input, source, outDir: cutDir, signal, chunkSec: 5 });
  if (!top || !chunks) throw new Error(`${name} was not cut`);
  const rung = { ...top, isCopy: false };
  const encoded: SourceChunk[] = [];
  for (const chunk of chunks) {
    const outDir = await folder('chunk');
    await transcoder.encodeChunk({ input: chunk.file, source, outDir, signal, rungs: [rung], chunk });
    encoded.push({ ...chunk, file: join(outDir, `${rung.name}.mkv`) });
  }
  const outDir = await folder('joined');
  await transcoder.stitch({ source, outDir, signal, rung, chunks: encoded });
  const before = await packetTimes(input);
  const after = await packetTimes(join(outDir, rung.name, 'index.m3u8'));
  const errors = before.map((sec, index) => Math.abs((after[index] ?? 0) - (sec - (before[0] ?? 0))));
  const label = `chunks of ${name}`;
  report({
    name: `${label}: pictures / source`,
    value: after.length / before.length,
    unit: 'ratio',
    target: '>= 1',
  });
  report({
    name: `${label}: doubled`,
    value: after.length - new Set(after).size,
    unit: 'pictures',
    target: '<= 0',
  });
  report({
    name: `${label}: largest error`,
    value: Math.max(...errors) * 1000,
    unit: 'ms',
    target: '<= 1.001',
  });
}

const pictures = (size: string, rate: string, sec: number) => [
  ...['-f', 'lavfi', '-i', `testsrc2=s=${size}:r=${rate}:d=${sec}`],
];
const h264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-bf', '3', '-pix_fmt', 'yuv420p'];

try {
  const input = join(root, 'source.mp4');
  const sound = ['-f', 'lavfi', '-i', `sine=d=${SECONDS}:r=48000`, '-c:a', 'aac', '-b:a', '128k'];
  const rate = ['-maxrate', '4M', '-bufsize', '8M', '-g', '60'];
  await ffmpeg([...pictures('1280x720', '30', SECONDS), ...sound, ...h264, ...rate, input]);
  await ladder(input);
  await copyTop(input);
  await exactness('30 fps', [...pictures('320x180', '30', 60), ...h264, '-g', '83', 'a.mp4']);
  await exactness('29.97 fps', [...pictures('320x180', '30000/1001', 60), ...h264, '-g', '70', 'b.mkv']);
  await exactness('60 fps', [...pictures('320x180', '60', 30), ...h264, '-g', '120', 'c.ts']);
} finally {
  await rm(root, { recursive: true, force: true });
}
