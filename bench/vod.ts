/**
 * Measures quality and cost of unusual files against bare ffmpeg with the same renditions: `node
 * bench/vod.ts` (about two minutes on two quiet cores), or with words of names to select some. Prints one
 * JSON line for each file (SSIM of the highest rendition, audio offset, duration, tracks, costs), then the
 * figures of all.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { LadderPlan, RenditionFiles, SourceInfo } from '../src/media/contract/index.ts';
import { MediaFileError } from '../src/media/contract/index.ts';
import { testTranscoder } from '../test/transcode/sources.ts';
import { type Cost, cost, unguarded } from './support/cost.ts';
import { MARK_SEC, ODD_FILES, type OddFile } from './support/odd-files.ts';
import { median, report } from './support/report.ts';

const run = promisify(execFile);
const THREADS = 2;
const TOP_LINES = 2160;
const MIN_SSIM = 0.985;
const MAX_MOVED_MS = 5;
const transcoder = testTranscoder({ threads: THREADS, guard: unguarded });
const signal = new AbortController().signal;
const root = await mkdtemp(join(tmpdir(), 'bench-vod-'));

async function ffmpeg(args: string[], cwd = root): Promise<string> {
  const { stderr } = await run('ffmpeg', ['-nostdin', '-hide_banner', '-nostats', '-y', ...args], {
    cwd,
    maxBuffer: 2 ** 26,
  });
  return stderr;
}

async function make({ steps }: OddFile): Promise<string> {
  let before = '';
  for (const step of steps) {
    await ffmpeg(step.map((word) => (word === '{}' ? before : word)));
    before = step.at(-1) ?? '';
  }
  return join(root, before);
}

interface TranscodeResult {
  source: SourceInfo;
  ladder: LadderPlan;
  made: RenditionFiles[];
  outDir: string;
}

/** Processes the file as the jobs do, without encoding a first rung early. */
async function whole(input: string): Promise<TranscodeResult> {
  const source = await transcoder.probe(input, signal);
  const ladder = transcoder.plan(source, TOP_LINES);
  const outDir = await mkdtemp(join(root, 'ours-'));
  const run = { input, source, outDir, signal };
  const { rungs, audio } = ladder;
  const top = rungs.find(({ isCopy }) => isCopy);
  const copied = top === undefined ? [] : await transcoder.copyTop({ ...run, rung: top, audio });
  const rest = rungs.filter((rung) => rung !== top);
  const work = { ...run, rungs: rest, audio: top ? [] : audio, alignToSource: top !== undefined };
  if (rest.length > 0) {
    const { renditions } = await transcoder.encodeWithImages(work);
    return { source, ladder, made: [...copied, ...renditions], outDir };
  }
  await mkdir(join(outDir, 'img'));
  const images = { ...run, outDir: join(outDir, 'img'), posterAtSec: null, storyboard: true };
  await transcoder.images(images);
  return { source, ladder, made: copied, outDir };
}

/** The bare command of the same renditions, as one would type it. */
async function bare(input: string, { ladder: { rungs, audio } }: TranscodeResult): Promise<void> {
  const cwd = await mkdtemp(join(root, 'bare-'));
  const encoded = rungs.filter(({ isCopy }) => !isCopy);
  const hls = (name: string) => [
    ...['-f', 'hls', '-hls_time', '6', '-hls_playlist_type', 'vod', '-hls_segment_type', 'fmp4'],
    ...['-hls_segment_filename', `${name}/s_%05d.m4s`, `${name}/index.m3u8`],
  ];
  for (const { name } of [...rungs, ...audio]) await mkdir(join(cwd, name));
  const graph = [
    `[0:v:0]split=${encoded.length}${encoded.map((_, i) => `[i${i}]`).join('')}`,
    ...encoded.map(({ width, height }, i) => {
      return `[i${i}]scale=${width}:${height}:flags=bicubic,format=yuv420p[v${i}]`;
    }),
  ].join(';');
  const videos = encoded.flatMap(({ name, bitrate, frameRate }, i) => [
    ...['-map', `[v${i}]`, '-c:v', 'libx264', '-preset', 'veryfast', '-profile:v', 'high', '-crf', '23'],
    ...['-maxrate', String(bitrate), '-bufsize', String(bitrate * 2), '-threads', String(THREADS)],
    ...['-g', String(Math.round(frameRate * 2)), '-sc_threshold', '0', ...hls(name)],
  ]);
  const copies = rungs.filter(({ isCopy }) => isCopy);
  await ffmpeg(
    [
      ...['-v', 'error', '-threads', String(THREADS), '-i', input],
      ...(encoded.length > 0 ? ['-filter_complex', graph] : []),
      ...videos,
      ...copies.flatMap(({ name }) => ['-map', '0:v:0', '-c', 'copy', ...hls(name)]),
      ...audio.flatMap(({ name, isCopy, streamIndex, bitrate, channels }) => [
        ...['-map', `0:${streamIndex}`, '-c:a', isCopy ? 'copy' : 'aac'],
        ...(isCopy ? ['-bsf:a', 'aac_adtstoasc'] : ['-b:a', String(bitrate), '-ac', String(channels)]),
        ...hls(name),
      ]),
    ],
    cwd,
  );
}

/** Returns the SSIM of the highest rendition and the source, at the rendition's size and frame rate. */
async function ssim(
  input: string,
  { reference = [] }: OddFile,
  { made, outDir }: TranscodeResult,
): Promise<number> {
  const top = made.find(({ kind }) => kind === 'VIDEO');
  if (top === undefined) return Number.NaN;
  const beat = ['setpts=PTS-STARTPTS', `fps=${top.frameRate}:start_time=0`];
  const shown = [
    ...reference,
    ...beat,
    `scale=${top.width}:${top.height}:flags=bicubic`,
    'format=yuv420p,setsar=1',
  ];
  const graph = `[0:v]${beat.join(',')},setsar=1[a];[1:v]${shown.join(',')}[b];[a][b]ssim=shortest=1`;
  const inputs = ['-i', join(outDir, top.name, 'index.m3u8'), '-i', input];
  const log = await ffmpeg([...inputs, '-filter_complex', graph, '-an', '-f', 'null', '-']);
  return Number(/SSIM .*All:([\d.]+)/.exec(log)?.[1]);
}

/** Returns the time of the flash in seconds; NaN if there is none. */
async function flashOf(path: string): Promise<number> {
  const filters = 'format=yuv420p,scale=32:32,signalstats,metadata=print:key=lavfi.signalstats.YMIN:file=-';
  const args = ['-nostdin', '-v', 'error', '-copyts', '-i', path, '-map', '0:v:0', '-vf', filters];
  const { stdout } = await run('ffmpeg', [...args, '-f', 'null', '-'], { maxBuffer: 2 ** 26 });
  const bright = [...stdout.matchAll(/pts_time:(-?[\d.]+)\n.*YMIN=(\d+)/g)].find(
    ([, , y]) => Number(y) > 100,
  );
  return Number(bright?.[1]);
}

/** Returns the time of the beep. */
async function beepOf(path: string): Promise<number> {
  const filters = 'silencedetect=n=-35dB:d=0.1';
  const log = await ffmpeg([
    '-copyts',
    '-i',
    path,
    '-map',
    '0:a:0',
    '-vn',
    '-af',
    filters,
    '-f',
    'null',
    '-',
  ]);
  return Number(/silence_end: (-?[\d.]+)/.exec(log)?.[1]);
}

/** Returns the change of the audio offset in milliseconds; null without both audio and video. */
async function moved(input: string, { source, made, outDir }: TranscodeResult): Promise<number | null> {
  const [video, audio] = (['VIDEO', 'AUDIO'] as const).map((kind) => made.find((one) => one.kind === kind));
  if (video === undefined || audio === undefined || source.durationSec < MARK_SEC / 2) return null;
  const path = ({ name }: RenditionFiles) => join(outDir, name, 'index.m3u8');
  const ours = (await beepOf(path(audio))) - (await flashOf(path(video)));
  return (ours - ((await beepOf(input)) - (await flashOf(input)))) * 1000;
}

async function playlistSec(path: string): Promise<number> {
  const durations = [...(await readFile(path, 'utf8')).matchAll(/#EXTINF:([\d.]+)/g)];
  return durations.reduce((sum, [, sec]) => sum + Number(sec), 0);
}

interface Row {
  name: string;
  isRight: boolean;
  ssim?: number;
  movedMs?: number | null;
  /** Difference between the duration of the video and the probed duration of the file. */
  durationErrorSec?: number;
  ours?: Cost;
  bare?: Cost;
}

async function measure(file: OddFile): Promise<Row & Record<string, unknown>> {
  const { name } = file;
  const input = await make(file);
  const code = await transcoder.probe(input, signal).then(
    () => null,
    (error: unknown) => (error instanceof MediaFileError ? error.code : String(error)),
  );
  if (code !== null || file.refusal !== undefined) {
    return { name, isRight: code === (file.refusal ?? null), refusal: code };
  }
  let ours: TranscodeResult | null = null;
  const oursCost = await cost(async () => {
    ours = await whole(input);
  });
  const result = ours ?? (await whole(input));
  const bareCost = await cost(() => bare(input, result));
  const top = result.made.find(({ kind }) => kind === 'VIDEO');
  const sec = await playlistSec(join(result.outDir, top?.name ?? '', 'index.m3u8'));
  const frameSec = 1 / (top?.frameRate ?? 1);
  const row = {
    ssim: await ssim(input, file, result),
    movedMs: await moved(input, result),
    durationErrorSec: Math.round((sec - result.source.durationSec) * 1000) / 1000,
  };
  const isInStep = row.movedMs === null || Math.abs(row.movedMs) <= MAX_MOVED_MS;
  return {
    name,
    isRight:
      row.ssim >= (file.minSsim ?? MIN_SSIM) && isInStep && Math.abs(row.durationErrorSec) <= frameSec + 0.05,
    ...row,
    renditions: result.made.map((one) => one.name).join(' '),
    isCopied: result.ladder.rungs.some(({ isCopy }) => isCopy),
    ours: oursCost,
    bare: bareCost,
  };
}

try {
  const wanted = process.argv.slice(2).filter((word) => !word.startsWith('-'));
  const files = ODD_FILES.filter(
    ({ name }) => wanted.length === 0 || wanted.some((word) => name.includes(word)),
  );
  const rows: Row[] = [];
  for (const file of files) {
    const row = await measure(file).catch((error: unknown) => ({
      name: file.name,
      isRight: false,
      error: String(error).slice(0, 600),
    }));
    rows.push(row);
    process.stdout.write(`${JSON.stringify(row)}\n`);
  }
  const right = rows.filter(({ isRight }) => isRight).length;
  report({
    name: 'vod: as they should be',
    value: right / rows.length,
    unit: 'of the files',
    target: '>= 1',
  });
  const extra = rows.flatMap(({ ours, bare: plain }) => (ours && plain ? [ours.cpuSec - plain.cpuSec] : []));
  report({
    name: 'vod: processor time beside bare ffmpeg, of each of four seconds: probe, images',
    value: median(extra),
    unit: 's',
    target: '<= 1',
  });
} finally {
  await rm(root, { recursive: true, force: true });
}
