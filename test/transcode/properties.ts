import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { RenditionFiles, RungPlan, SourceInfo } from '../../src/media/contract/index.ts';
import {
  EDGE,
  type GeneratedSource,
  LATE_SEC,
  LENGTH_SEC,
  levelAt,
  MORE_SEC,
  makeSource,
  SHORT_SEC,
  STEP_SEC,
  soundsAt,
} from './generated-sources.ts';
import { assertNear } from './result.ts';
import { normalPriorityGuard, testTranscoder } from './sources.ts';

const run = promisify(execFile);
const AUDIO_FRAME_SEC = 1024 / 48_000;
/** Tolerance of levels and colors, of 255: the change of two encodes at these sizes. */
const LEVEL_TOLERANCE = 14;
const EDGE_TOLERANCE = 22;
const IN_STEP_SEC = 0.025;
const transcoder = testTranscoder({ guard: normalPriorityGuard });
/** A lower rendition may drop half of the frames. */
const SMALL = { width: 32, height: 18 };

interface Track {
  rendition: RenditionFiles;
  /** Start time of each packet, in seconds. */
  times: number[];
  /** Matrix, levels, primaries and transfer of a video, as a player reads them. */
  color: string;
  /** `rgb24` of each frame, or mono samples of 16 bits at 8 kHz. */
  bytes: Buffer;
}

interface Made {
  source: SourceInfo;
  tracks: Track[];
}

/** The renditions of a file, with one more below the top, decoded. */
async function makeRenditions(dir: string, path: string): Promise<Made> {
  const signal = AbortSignal.timeout(120_000);
  const outDir = await mkdtemp(join(dir, 'out-'));
  const source = await transcoder.probe(path, signal);
  const { rungs, audio } = transcoder.plan(source, 2160);
  const shared = { input: path, source, outDir, signal };
  const [top] = rungs;
  assert.ok(top);
  const every = top.frameRate > 30 ? 2 : 1;
  const small: RungPlan = {
    ...top,
    ...SMALL,
    name: 'small',
    frameRate: top.frameRate / every,
    isCopy: false,
  };
  const copied = top.isCopy ? await transcoder.copyTop({ ...shared, rung: top, audio }) : [];
  const encoded = await transcoder.encode({
    ...shared,
    rungs: top.isCopy ? [small] : [top, small],
    audio: top.isCopy ? [] : audio,
    alignToSource: top.isCopy,
  });
  return { source, tracks: await decode(outDir, [...copied, ...encoded]) };
}

async function decode(outDir: string, renditions: readonly RenditionFiles[]): Promise<Track[]> {
  const inputs = renditions.flatMap(({ name }) => ['-i', join(outDir, name, 'index.m3u8')]);
  const outputs = renditions.flatMap(({ name, kind }, index) => [
    ...['-map', `${index}:0`, '-c', 'copy', '-f', 'framecrc', join(outDir, `${name}.txt`)],
    ...['-map', `${index}:0`, '-fps_mode', 'passthrough'],
    ...(kind === 'VIDEO'
      ? ['-f', 'rawvideo', '-pix_fmt', 'rgb24']
      : ['-f', 's16le', '-ac', '1', '-ar', '8000']),
    join(outDir, `${name}.raw`),
  ]);
  const { stderr } = await run('ffmpeg', ['-nostdin', '-hide_banner', '-copyts', ...inputs, ...outputs]);
  // `Stream #1:0: Video: h264 (High) (avc1 / 0x31637661), yuv420p(tv, bt709), 64x36`
  const colors = new Map(
    [...stderr.matchAll(/^ +Stream #(\d+):0.*: Video: h264.*? yuv420p\(([^)]*)\)/gm)].map(
      ([, index, color]) => [Number(index), color ?? ''],
    ),
  );
  return Promise.all(
    renditions.map(async (rendition, index) => ({
      rendition,
      color: colors.get(index) ?? 'unknown',
      times: timesIn(await readFile(join(outDir, `${rendition.name}.txt`), 'utf8')),
      bytes: await readFile(join(outDir, `${rendition.name}.raw`)),
    })),
  );
}

function timesIn(text: string): number[] {
  const [, over = 0, under = 1] = (/^#tb 0: (\d+)\/(\d+)/m.exec(text) ?? []).map(Number);
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => (Number(line.split(',')[2]) * over) / under)
    .toSorted((a, b) => a - b);
}

const GAP = { fromSec: 0.5, untilSec: 0.9 };

/** Returns the start of the video on the timeline of the content. */
function zeroOf({ video, audio }: GeneratedSource): number {
  return video === 'late' && ['none', 'late'].includes(audio) ? LATE_SEC : 0;
}

/**
 * Returns the level shown at a time of the content: the first frame before the video starts, the last one
 * after its end.
 */
function shownAt({ video }: GeneratedSource, sec: number, frameSec: number): number {
  const [startSec, endSec] = {
    ...{ whole: [0, LENGTH_SEC], late: [LATE_SEC, LENGTH_SEC], short: [0, SHORT_SEC], single: [0, frameSec] },
    ...{ reshaped: [0, LENGTH_SEC], gap: [0, LENGTH_SEC] },
  }[video];
  const isMissing = video === 'gap' && sec >= GAP.fromSec && sec < GAP.untilSec;
  const inGap = isMissing ? GAP.fromSec - frameSec / 2 : sec;
  return levelAt(Math.max(startSec ?? 0, Math.min(inGap, (endSec ?? 0) - frameSec / 2)));
}

function pixelAt({ rendition, bytes }: Track, frame: number, x: number, y: number): number[] {
  const [width = 0, height = 0] = [rendition.width, rendition.height].map(Number);
  const at = ((frame * height + Math.floor(y * height)) * width + Math.floor(x * width)) * 3;
  return [...bytes.subarray(at, at + 3)];
}

/** Asserts that each frame shows the content of the source at its time, within a frame. */
function assertPictures(generated: GeneratedSource, track: Track): void {
  const { rendition, times } = track;
  const sourceSec = 1 / rateOf(generated);
  const frameSec = Math.max(sourceSec, 1 / (rendition.frameRate ?? 1));
  assert.equal(
    new Set(times.map((sec) => sec.toFixed(3))).size,
    times.length,
    `${rendition.name}: each once`,
  );
  for (const [index, sec] of times.entries()) {
    const [level = 0] = pixelAt(track, index, 0.5, 0.5);
    const content = sec + zeroOf(generated);
    const near = [0, -1, 1].map((by) => shownAt(generated, content + by * frameSec, sourceSec));
    const distance = Math.min(...near.map((one) => Math.abs(one - level)));
    assert.ok(distance <= LEVEL_TOLERANCE, `${rendition.name} at ${sec}: ${level} is none of ${near}`);
  }
  const edge = pixelAt(track, 0, generated.video === 'reshaped' ? 0.05 : 0.08, 0.5);
  for (const [index, value] of EDGE.entries())
    assertNear(edge[index] ?? 0, value, EDGE_TOLERANCE, `${rendition.name}: the color of the edge, ${edge}`);
}

function rateOf({ rate }: GeneratedSource): number {
  const [over = 25, under = 1] = rate.split('/').map(Number);
  return over / under;
}

const WINDOW = 40;
const AUDIO_RATE = 8000;
const LOUD = 1200;
/** Distance within which a switch cannot be distinguished from the beginning or the end. */
const EDGE_SEC = 0.05;

/** Returns the times at which the tone begins or ends, in seconds. */
function switchesOf({ times, bytes }: Track): number[] {
  const switches: number[] = [];
  let isOn: boolean | null = null;
  for (let at = 0; at + WINDOW <= bytes.length / 2; at += WINDOW / 4) {
    let sum = 0;
    for (let index = at; index < at + WINDOW; index += 1) sum += Math.abs(bytes.readInt16LE(index * 2));
    const now = sum / WINDOW > LOUD;
    if (isOn !== null && now !== isOn) switches.push((times[0] ?? 0) + (at + WINDOW / 2) / AUDIO_RATE);
    isOn = now;
  }
  return switches;
}

/** Asserts that the tone begins and ends at the times of the content; a short track ends it early. */
function assertTone(
  generated: GeneratedSource,
  track: Track,
  times: { shiftSec: number; endSec: number },
): void {
  const { shiftSec } = times;
  const isInside = (sec: number) => sec > EDGE_SEC && sec < times.endSec - 2 * EDGE_SEC;
  const { audio } = generated;
  const [startSec, endSec] =
    audio === 'short' ? [0, SHORT_SEC] : [audio === 'late' ? LATE_SEC : 0, LENGTH_SEC + MORE_SEC];
  const expected = [0.4, 0.8, 1.2, 1.6]
    .filter((sec) => sec > startSec && sec <= endSec)
    .map((sec) => sec - zeroOf(generated) + shiftSec);
  const starts = audio === 'late' && soundsAt(LATE_SEC) ? [LATE_SEC - zeroOf(generated) + shiftSec] : [];
  const wanted = [...starts, ...expected].filter(isInside);
  const heard = switchesOf(track).filter(isInside);
  assert.equal(heard.length, wanted.length, `the tone switches at ${heard} and not at ${wanted}`);
  for (const [index, sec] of wanted.entries())
    assertNear(heard[index] ?? 9, sec, IN_STEP_SEC, `the tone, ${heard} for ${wanted}`);
}

/** Returns the delay of the video against the content. */
function shiftOf(generated: GeneratedSource, track: Track): number {
  const frameSec = 1 / rateOf(generated);
  let before: number | null = null;
  for (const [index, sec] of track.times.entries()) {
    const [level = 0] = pixelAt(track, index, 0.5, 0.5);
    if (before !== null && Math.abs(level - before) > LEVEL_TOLERANCE * 2) {
      const content = sec + zeroOf(generated);
      const step = Math.round((content - frameSec / 2) / STEP_SEC) * STEP_SEC;
      return content - Math.ceil(step / frameSec - 0.001) * frameSec;
    }
    before = level;
  }
  return 0;
}

function assertOneLength({ source, tracks }: Made): void {
  const frameOf = ({ rendition }: Track) => 1 / (rendition.frameRate ?? 1 / AUDIO_FRAME_SEC);
  const frameSec = Math.max(...tracks.map(frameOf)) + 0.002;
  for (const { rendition, times } of tracks) {
    const [startSec = 9] = times;
    assertNear(startSec, 0, frameSec, `${rendition.name} begins`);
    assertNear(startSec + rendition.durationSec, source.durationSec, frameSec, `${rendition.name} ends`);
  }
}

/** Asserts the promises of docs/decisions/transcoding.md for the renditions of one source. */
async function assertProperties(dir: string, generated: GeneratedSource): Promise<void> {
  const made = await makeRenditions(dir, await makeSource(dir, generated));
  assertOneLength(made);
  const videos = made.tracks.filter(({ rendition }) => rendition.kind === 'VIDEO');
  for (const track of videos) assertPictures(generated, track);
  const [top] = videos;
  assert.ok(top);
  const colors = new Set(videos.map(({ color }) => color));
  assert.equal(colors.size, 1, `the colors of the renditions: ${[...colors].join(' and ')}`);
  assert.doesNotMatch([...colors].join(), /unknown/);
  const shiftSec = shiftOf(generated, top);
  for (const track of made.tracks)
    if (track.rendition.kind === 'AUDIO')
      assertTone(generated, track, { shiftSec, endSec: made.source.durationSec });
}

/** A test for every combination of a list. */
export function testProperties(list: readonly GeneratedSource[]): void {
  let dir = '';
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'properties-'));
  });
  after(() => rm(dir, { recursive: true, force: true }));
  // Segments that sources share are encoded by the first that needs them.
  describe('generated sources', { concurrency: 1 }, () => {
    for (const generated of list)
      test(`renditions agree: ${Object.values(generated).join(', ')}`, () =>
        assertProperties(dir, generated));
  });
}
