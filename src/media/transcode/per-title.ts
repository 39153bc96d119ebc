import type { LadderPlan, RungPlan, SourceInfo, Transcoder } from '../contract/index.ts';
import { inputGuard } from '../ffmpeg/guard.ts';
import { readOutput } from '../ffmpeg/output.ts';
import { encoderArgs } from './encoders.ts';
import { rateText } from './frame-rate.ts';
import { picturesOf } from './image-filters.ts';
import { encodeLimits } from './limits.ts';
import { runTool, type Tools } from './run.ts';
import { decoderOptions, sourceFilters } from './source-filters.ts';

/** Where the source is looked at, as shares of its length, and for how long each time: what is hard in its middle is looked at no more. */
const MIDDLE = [0.5];
const ELSEWHERE = [0.15, 0.85];
const WINDOW_SEC = 6;
/** Lines of what is tried: bytes grow with size by a law that the second one tells. */
const TRIED_LINES = 480;
const LEAST_LINES = 240;
const MOST_RATE = 30;
/** Keyframes that are so far apart are worth it where they save so much; seeking is quicker without. */
const FAR_SEC = 6;
const NEAR_SEC = 2;
const WORTH_SHARE = 0.9;
/** The middle says it, however easy the rest may be: by keyframes, and by all bytes. */
const HARD = { share: 0.96, bytes: 0.5 };
/** What the lowest rung of an ordinary ladder may take: who can watch that can watch this. */
const FLOOR_BITRATE = 400_000;
/** Of an average, for moments that were not looked at. */
const PEAK_SHARE = 1.5;

/** What a few seconds of a source, spread over it, took in bytes. */
export interface Sample {
  /** Of the size that was tried. */
  pixels: number;
  frameRate: number;
  sec: number;
  /** With keyframes far apart, and near. */
  far: number;
  near: number;
  /** Far apart, at half the lines. */
  small: number;
}

type Run = Parameters<Transcoder['refine']>[0];

/**
 * Encodes a few seconds spread over the source, small, and makes of a ladder what its pictures need
 * (docs/decisions/transcoding.md#per-title-encoding).
 *
 * @returns the ladder with `keyframeSec`; as it was where the pictures are too small for a judgement.
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

/** Is nothing to be gained, whatever the rest of the source is like? */
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

/** @param places as shares of the length. */
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

/** Lists of the packets, by the sizes of `Tried`. */
const OUTPUTS = [{ file: 'large.txt' }, { file: 'small.txt' }] as const;
/** 1080 pictures have a line of some 60 characters each. */
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
  const { endSec } = picturesOf(source);
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

/** Pure. @param keep names of what is made already. */
export function applyPerTitle(ladder: LadderPlan, sample: Sample, keep: readonly string[]): LadderPlan {
  const keyframeSec = sample.far <= sample.near * WORTH_SHARE ? FAR_SEC : NEAR_SEC;
  const isEasy = (rung: RungPlan) => peakOf(rung, sample, keyframeSec) <= FLOOR_BITRATE;
  // Everybody who can watch anything can watch this one: what is below it is for nobody. Two are left for slow decoders.
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

/** Bits per second that a rung will hardly be above. */
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

/** Bytes of each packet, in the order of decoding. */
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
 * What pictures with keyframes far apart would take with near ones: each further keyframe costs as much as the one before, in
 * the place of an ordinary picture.
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
