import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { assertNear } from '../../../test/transcode/result.ts';
import { H264, make, pictures, testGuard, testTranscoder, tone } from '../../../test/transcode/sources.ts';
import { createLogger } from '../../platform/logger.ts';
import type { RungPlan } from '../contract/index.ts';
import { checkFfmpeg } from '../ffmpeg/check.ts';
import { createVideoCutter } from './cut.ts';

const run = promisify(execFile);
const transcoder = testTranscoder();
const { videoCodecs } = await checkFfmpeg('ffmpeg');
const within = () => AbortSignal.timeout(60_000);
const AAC = ['-c:a', 'aac'];

let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'odd-'));
});
after(() => rm(dir, { recursive: true, force: true }));

const probe = (path: string) => transcoder.probe(path, within());

/** Creates a file with two video tracks, a small red one before a larger one. */
function twoTracks(name: string, ...options: string[]): Promise<string> {
  const inputs = ['-f', 'lavfi', '-i', 'color=red:s=32x18:r=5:d=1', ...pictures('64x36', 25, 1), ...tone(1)];
  return make(dir, ...inputs, '-map', '0', '-map', '1', '-map', '2', ...H264, ...AAC, ...options, name);
}

test('the default video track is used, or else the largest', async () => {
  const [first, second] = ['-disposition:v:0', '-disposition:v:1'];
  for (const [name, options, expected] of [
    ['second.mkv', [first, '0', second, 'default'], 1],
    ['first.mkv', [first, 'default', second, '0'], 0],
    ['neither.mkv', [first, '0', second, '0'], 1],
    ['both.mkv', [first, 'default', second, 'default'], 1],
    ['second.mov', [first, '0', second, 'default'], 1],
  ] as const) {
    const { video } = await probe(await twoTracks(name, ...options));
    assert.equal(video.streamIndex, expected, name);
  }
});

test('a clip uses the same video track as the video that it is cut from', async () => {
  const input = await twoTracks('clip.mkv', '-disposition:v:0', '0', '-disposition:v:1', 'default');
  const source = await probe(input);
  const tools = {
    ffmpeg: 'ffmpeg',
    ffprobe: 'ffprobe',
    guard: testGuard,
    threads: 1,
    log: createLogger('silent'),
  };
  const cutter = createVideoCutter(tools);
  const path = await cutter.cut({ input, source, startSec: 0, durationSec: 0.5, dir, signal: within() });
  const { width, height } = (await probe(path)).video;
  assert.deepEqual([width, height], [64, 36]);
});

/** Creates an MP4 whose sample entry ends with a Dolby Vision configuration (dvcC). */
async function withDolbyVision(profile: number, compatibleId: number): Promise<string> {
  const bytes = await readFile(await make(dir, ...pictures('64x36', 10, 0.5), ...H264, 'plain.mp4'));
  const box = Buffer.alloc(32);
  box.writeUInt32BE(32);
  box.write('dvcC', 4, 'latin1');
  box[8] = 1;
  box.writeUInt16BE((profile << 9) | (3 << 3) | (1 << 2) | 1, 10);
  box[12] = compatibleId << 4;
  const entry = bytes.indexOf('avc1', bytes.indexOf('stsd', 0, 'latin1'), 'latin1') - 4;
  const at = entry + bytes.readUInt32BE(entry);
  for (const type of ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd']) {
    const parent = bytes.indexOf(type, 0, 'latin1') - 4;
    bytes.writeUInt32BE(bytes.readUInt32BE(parent) + 32, parent);
  }
  bytes.writeUInt32BE(bytes.readUInt32BE(entry) + 32, entry);
  const path = join(dir, `dolby-${profile}-${compatibleId}.mp4`);
  await writeFile(path, Buffer.concat([bytes.subarray(0, at), box, bytes.subarray(at)]));
  return path;
}

test('Dolby Vision without a compatible base layer is rejected with a message', async () => {
  for (const [profile, compatibleId] of [
    [5, 0],
    [10, 0],
  ] as const)
    await assert.rejects(probe(await withDolbyVision(profile, compatibleId)), {
      code: 'UNSUPPORTED_FORMAT',
      message: /^The video is Dolby Vision .* Export it as HDR10, HLG or SDR\.$/,
    });
  assert.equal((await probe(await withDolbyVision(8, 1))).video.range, 'SDR');
});

const COLORS = ['ff0000', '00ff00', '0000ff', 'ffff00', 'c83c1e'];
/** Tolerance of 255, for chroma at half the resolution. */
const COLOR_TOLERANCE = 12;

/** Input of five bars, wide enough to be HD. */
const BARS = COLORS.flatMap((color) => [
  '-f',
  'lavfi',
  '-i',
  `color=0x${color}:s=256x16:r=10:d=1,format=gbrp`,
]);
const BESIDE = `${COLORS.map((_, index) => `[${index}]`).join('')}hstack=inputs=${COLORS.length}`;

/** Returns the center color of each bar as players show it, according to the color tags of the file. */
async function shownColors(path: string, options: string[] = []): Promise<number[][]> {
  const args = ['-nostdin', '-v', 'error', ...options, '-i', path, '-frames:v', '1'];
  const bars = ['-vf', 'scale=1280:16:flags=neighbor,format=gbrp,scale=5:1:flags=area', '-pix_fmt', 'rgb24'];
  const { stdout } = await run('ffmpeg', [...args, ...bars, '-f', 'rawvideo', '-'], { encoding: 'buffer' });
  return COLORS.map((_, index) => [...stdout.subarray(index * 3, index * 3 + 3)]);
}

function assertColors(shown: number[][], what: string): void {
  for (const [index, color] of COLORS.entries())
    for (const [at, value] of [...Buffer.from(color, 'hex')].entries())
      assertNear(shown[index]?.[at] ?? -99, value, COLOR_TOLERANCE, `${what}, ${color}`);
}

async function colorOf(path: string): Promise<string> {
  const entries = 'stream=color_range,color_space,color_transfer,color_primaries';
  const { stdout } = await run('ffprobe', ['-v', 'error', '-show_entries', entries, '-of', 'csv=p=0', path]);
  return stdout.trim().split('\n')[0] ?? '';
}

for (const [name, options, color] of [
  ['RGB', ['-c:v', 'ffv1'], 'tv,bt709,bt709,bt709'],
  [
    'BT.709 that nothing says',
    ['-vf', 'scale=out_color_matrix=bt709:out_range=tv,format=yuv420p,setparams=colorspace=unknown', ...H264],
    'tv,bt709,bt709,bt709',
  ],
  [
    'BT.601 in full range that the file declares',
    [
      ...['-vf', 'scale=out_color_matrix=bt601:out_range=pc,format=yuvj420p', ...H264.slice(0, -2)],
      ...['-colorspace', 'smpte170m', '-color_primaries', 'smpte170m', '-color_trc', 'smpte170m'],
    ],
    'tv,smpte170m,smpte170m,smpte170m',
  ],
] as const) {
  test(`all renditions and images of ${name} have the colors of the source and are tagged with them`, async () => {
    const bars = await make(dir, ...BARS, '-filter_complex', BESIDE, '-c:v', 'ffv1', 'bars.mkv');
    const input = await make(dir, '-i', bars, ...options, 'colors.mkv');
    const source = await probe(input);
    const outDir = await mkdtemp(join(dir, 'out-'));
    const { rungs } = transcoder.plan(source, 1080);
    const [top] = rungs;
    assert.ok(top);
    const rung = (change: Partial<RungPlan>): RungPlan => ({ ...top, isCopy: false, ...change });
    const small = rung({ name: 'small', width: 640, height: 8 });
    const shared = { input, source, outDir, signal: within(), audio: [] };
    if (top.isCopy) await transcoder.copyTop({ ...shared, rung: top });
    const encoded = top.isCopy ? [small] : [top, small];
    const { images } = await transcoder.encodeWithImages({
      ...shared,
      rungs: encoded,
      alignToSource: top.isCopy,
    });
    const others = videoCodecs.filter((codec) => codec !== 'H264');
    const further = others.map((codec) => rung({ name: codec, codec, width: 1280, height: 64 }));
    for (const one of further) await transcoder.encode({ ...shared, rungs: [one], alignToSource: false });
    for (const one of [top, small, ...further]) {
      const playlist = join(outDir, one.name, 'index.m3u8');
      assertColors(await shownColors(playlist), one.name);
      assert.equal(await colorOf(playlist), color, one.name);
    }
    assert.ok(images?.includes('poster.jpg'));
    assertColors(await shownColors(join(outDir, 'img/poster.jpg')), 'the poster');
  });
}

test('a file whose timestamps restart is read from a copy with one clock', async () => {
  const streams = await Promise.all(
    ['a.ts', 'b.ts'].map((name) => make(dir, ...pictures('64x36', 25, 2), ...tone(2), ...H264, ...AAC, name)),
  );
  const path = join(dir, 'joined.ts');
  await writeFile(path, Buffer.concat(await Promise.all(streams.map((stream) => readFile(stream)))));
  for (const whole of streams) assert.equal(await transcoder.needsCopy(whole, within()), false);
  assert.equal(await transcoder.needsCopy(path, within()), true);
  const copy = await transcoder.makeCopy(path, await mkdtemp(join(dir, 'copy-')), within());
  const { durationSec, audio } = await probe(copy);
  assertNear(durationSec, 4, 0.05, 'the length');
  assertNear(audio[0]?.span?.endSec ?? 0, 4, 0.05, 'the end of the audio');
  assert.equal(await transcoder.needsCopy(copy, within()), false);
});

test('a video whose frames end early has its poster and preview from the part with frames', async () => {
  const still = await make(dir, ...pictures('64x36', 25, 0.04), ...tone(4), ...H264, ...AAC, 'still.mp4');
  const moving = await make(dir, ...pictures('64x36', 25, 1.2), ...tone(8), ...H264, ...AAC, 'moving.mp4');
  for (const [input, preview] of [
    [still, false],
    [moving, true],
  ] as const) {
    const source = await probe(input);
    const outDir = await mkdtemp(join(dir, 'out-'));
    const { rungs, audio } = transcoder.plan(source, 1080);
    const encoded = rungs.map((rung) => ({ ...rung, isCopy: false }));
    const shared = { input, source, outDir, signal: within(), audio, alignToSource: false };
    const { images } = await transcoder.encodeWithImages({ ...shared, rungs: encoded });
    assert.equal(images?.includes('preview.webp'), preview, input);
    assert.ok(images?.includes('poster.jpg'));
    const own = await mkdtemp(join(dir, 'images-'));
    const made = await transcoder.images({ ...shared, outDir: own, posterAtSec: null, storyboard: true });
    assert.equal(made.includes('preview.webp'), preview, `${input}, by itself`);
  }
});

test('images that cause an encode to fail do not repeat the encode of the video', async () => {
  const ffmpeg = join(dir, 'no-previews');
  await writeFile(ffmpeg, '#!/bin/sh\ncase "$*" in *preview.webp*) exit 70;; esac\nexec ffmpeg "$@"\n', {
    mode: 0o755,
  });
  const input = await make(dir, ...pictures('64x36', 25, 2), ...H264, 'plain.mp4');
  const source = await probe(input);
  const rungs = transcoder.plan(source, 1080).rungs.map((rung) => ({ ...rung, isCopy: false }));
  const outDir = await mkdtemp(join(dir, 'out-'));
  const run = { input, source, outDir, signal: within(), rungs, audio: [], alignToSource: false };
  const made = await testTranscoder({ ffmpeg }).encodeWithImages(run);
  assert.deepEqual([made.renditions.map(({ name }) => name), made.images], [['36p'], null]);
});
