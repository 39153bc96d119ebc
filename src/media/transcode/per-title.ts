import type { LadderPlan, RungPlan, SourceInfo, Transcoder } from '../contract/index.ts';
import { inputGuard } from '../ffmpeg/guard.ts';
import { readOutput } from '../ffmpeg/output.ts';
import { encoderArgs } from './encoders.ts';
import { rateText } from './frame-rate.ts';
import { videoSpanOf } from './image-filters.ts';
import { encodeLimits } from './limits.ts';
import { runTool, type Tools } from './run.ts';
import { decoderOptions, sourceFilters } from './source-filters.ts';

/**
 * Sample positions as fractions of the duration, and the length of each sample. If the middle is hard to
 * encode, the other positions are skipped.
 */
const MIDDLE = [0.5];
const ELSEWHERE = [0.15, 0.85];
const WINDOW_SEC = 6;
/** Lines of the larger sample encode; a second one at half the size determines how bytes grow with size. */
const TRIED_LINES = 480;
const LEAST_LINES = 240;
const MOST_RATE = 30;
/**
 * Long keyframe interval, used only when it reduces the bytes to `WORTH_SHARE`; a short one makes seeking
 * faster.
 */
const FAR_SEC = 6;
const NEAR_SEC = 2;
const WORTH_SHARE = 0.9;
/**
 * Limits at which the sample of the middle suffices to decide that nothing can be saved, however simple the
 * rest is: for the savings by keyframes, and for all bytes.
 */
const HARD = { share: 0.96, bytes: 0.5 };
/** Bitrate of the lowest rung of an ordinary ladder: every viewer can load this. */
const FLOOR_BITRATE = 400_000;
/** Peak relative to the average, for parts that were not sampled. */
const PEAK_SHARE = 1.5;

/** Encoded bytes of a few seconds spread over a source. */
export interface Sample {
  /** Pixels of the sample size. */
  pixels: number;
  frameRate: number;
  sec: number;
  /** Bytes with long and with short keyframe intervals. */
  far: number;
  near: number;
  /** Bytes with the long interval, at half the lines. */
  small: number;
}

type Run = Parameters<Transcoder['analyzeComplexity']>[0];

/**
 * Encodes a few seconds spread over the source at a small size, and adapts the ladder to the content
 * (docs/decisions/transcoding.md#per-title-encoding).
 *
 * @returns the ladder with `keyframeSec`; otherwise unchanged when the resolution is too low for an estimate.
 */
export async function analyzeComplexity(tools: Tools, run: Run): Promise<LadderPlan> {
  const { ladder, source, keep } = run;
  const [top] = ladder.rungs;
  const lines = Math.min(TRIED_LINES, source.video.height, source.video.width);
  if (top === undefined || lines < LEAST_LINES) return { ...ladder, keyframeSec: NEAR_SEC };
  const sizes = [scaled(source, lines), scaled(source, lines / 2)] as const;
  const tried = { top, sizes, frameRate: Math.min(MOST_RATE, source.video.frameRate) };
  const middle = await look(tools, run, tried, MIDDLE);
  if (isHard(ladder, middle, keep)) return { ...ladder, keyframeSec: NEAR_SEC };
  return applyPerTitle(ladder, together(middle, await look(tools, run, tried, ELSEWHERE)), keep);
}

/** Reports whether nothing can be saved, whatever the rest of the source is like. */
function isHard(ladder: LadderPlan, middle: Sample, keep: readonly string[]): boolean {
  const { far, near, small } = middle;
  const easiest = { ...middle, far: far * HARD.bytes, near: near * HARD.bytes, small: small * HARD.bytes };
  const { rungs } = applyPerTitle(ladder, easiest, keep);
  return far > near * HARD.share && rungs.length === ladder.rungs.length;
}

function together(one: Sample, other: Sample): Sample {
  const both = (part: 'sec' | 'far' | 'near' | 'small') => one[part] + other[part];
  return { ...one, sec: both('sec'), far: both('far'), near: both('near'), small: both('small') };
}

/** @param places positions as fractions of the length. */
async function look(tools: Tools, run: Run, tried: Tried, places: readonly number[]): Promise<Sample> {
  const { source, outDir, ladder, signal } = run;
  const sec = places.length * WINDOW_SEC;
  await runTool(tools, {
    program: 'ffmpeg',
    cwd: outDir,
    args: sampleArgs(tools, run, tried, places),
    limits: encodeLimits({ ...source, durationSec: sec }, ladder.rungs.slice(0, 1)),
    signal,
    onProgress: () => {},
  });
  const [large, small] = await Promise.all(OUTPUTS.map(({ file }) => sizesOf(outDir, file)));
  const { frameRate, sizes } = tried;
  const [{ width, height }] = sizes;
  const far = sum(large ?? []);
  const near = withKeyframes(large ?? [], frameRate);
  return { pixels: width * height, frameRate, sec, far, near, small: sum(small ?? []) };
}

/** Packet lists, in the order of `Tried.sizes`. */
const OUTPUTS = [{ file: 'large.txt' }, { file: 'small.txt' }] as const;
/** Maximum size of the list: 1080 frames have a line of about 60 characters each. */
const LIST_MAX_BYTES = 2 ** 20;

interface Tried {
  top: RungPlan;
  sizes: readonly [Size, Size];
  frameRate: number;
}

interface Size {
  width: number;
  height: number;
}

function sampleArgs(
  { threads }: Tools,
  { input, source }: { input: string; source: SourceInfo },
  { top, sizes, frameRate }: Tried,
  places: readonly number[],
) {
  const rate = rateText(frameRate);
  const { endSec } = videoSpanOf(source);
  const spans = places.map((share) => Math.max(0, endSec * share - WINDOW_SEC / 2).toFixed(3));
  const pieces = spans.map((_, index) => {
    const filters = [`fps=${rate}`, ...sourceFilters(source), 'setpts=PTS-STARTPTS'];
    return `[${index}:${source.video.streamIndex}]${filters.join()}[p${index}]`;
  });
  const joined = `${spans.map((_, index) => `[p${index}]`).join('')}concat=n=${spans.length},split=${sizes.length}[a][b]`;
  const outputs = sizes.map(({ width, height }, index) => {
    return `[${'ab'[index]}]scale=${width}:${height}:flags=bicubic,format=yuv420p,setsar=1[v${index}]`;
  });
  return [
    ...['-nostdin', '-y', '-v', 'error', '-stats_period', '1'],
    ...spans.flatMap((at) => [
      ...['-threads', String(threads), '-ss', at, '-t', String(WINDOW_SEC)],
      ...[...decoderOptions(source), ...inputGuard(input)],
    ]),
    ...['-filter_complex', [...pieces, joined, ...outputs].join(';')],
    ...OUTPUTS.flatMap(({ file }, index) => [
      ...['-map', `[v${index}]`, ...encoderArgs({ ...top, codec: 'H264' }, { source, threads })],
      ...['-g', String(groupOf(frameRate)), '-f', 'framecrc', file],
    ]),
  ];
}

/** Adapts the ladder to the sample. A pure function. @param keep names of existing rungs. */
export function applyPerTitle(ladder: LadderPlan, sample: Sample, keep: readonly string[]): LadderPlan {
  const keyframeSec = sample.far <= sample.near * WORTH_SHARE ? FAR_SEC : NEAR_SEC;
  const isEasy = (rung: RungPlan) => peakOf(rung, sample, keyframeSec) <= FLOOR_BITRATE;
  // Every viewer can load this rung, so lower ones are dropped. Two remain for slow decoders.
  const lowest = Math.max(1, ladder.rungs.findIndex(isEasy));
  const dropped = ladder.rungs
    .filter(({ name }, index) => index > lowest && ladder.rungs.some(isEasy) && !keep.includes(name))
    .map(({ name }) => name);
  const isDropped = ({ name }: RungPlan) => dropped.some((one) => name === one || name.startsWith(`${one}-`));
  return {
    ...ladder,
    keyframeSec,
    rungs: ladder.rungs.filter((rung) => !isDropped(rung)),
    further: ladder.further.filter((rung) => !isDropped(rung)),
  };
}

/** Estimates the peak bitrate of a rung, in bits per second. */
function peakOf(rung: RungPlan, sample: Sample, keyframeSec: number): number {
  const bits = ((keyframeSec === FAR_SEC ? sample.far : sample.near) * 8) / sample.sec;
  const law = Math.log(sample.far / Math.max(1, sample.small)) / Math.log(4);
  const size = ((rung.width * rung.height) / sample.pixels) ** Math.min(1, Math.max(0.3, law));
  return bits * size * Math.max(1, rung.frameRate / sample.frameRate) * PEAK_SHARE;
}

function scaled({ video }: SourceInfo, lines: number): Size {
  const scale = lines / Math.min(video.width, video.height);
  const even = (value: number) => Math.max(2, Math.round(value / 2) * 2);
  return { width: even(video.width * scale), height: even(video.height * scale) };
}

/** Returns the bytes of each packet, in decoding order. */
async function sizesOf(outDir: string, name: string): Promise<number[]> {
  const list = (await readOutput(outDir, name, LIST_MAX_BYTES)).toString('latin1');
  return list
    .split('\n')
    .filter((line) => /^\d/.test(line))
    .map((line) => Number(line.split(',')[4]) || 0);
}

function groupOf(frameRate: number): number {
  return Math.round(FAR_SEC * frameRate);
}

/**
 * Estimates the bytes of a sample with long keyframe intervals if they were short: each additional keyframe
 * costs as much as the previous one, and replaces an ordinary frame.
 */
export function withKeyframes(sizes: readonly number[], frameRate: number): number {
  const group = groupOf(frameRate);
  const keyframes = sizes.filter((_, index) => index % group === 0);
  const others = sizes.length - keyframes.length;
  const ordinary = others === 0 ? 0 : (sum(sizes) - sum(keyframes)) / others;
  const further = FAR_SEC / NEAR_SEC - 1;
  return sum(sizes) + further * sum(keyframes.map((size) => Math.max(0, size - ordinary)));
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
