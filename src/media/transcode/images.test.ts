import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { imageSize } from 'image-size';
import { H264, make, pictures, testTranscoder } from '../../../test/transcode/sources.ts';

const run = promisify(execFile);
const transcoder = testTranscoder();
let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'images-'));
});
after(() => rm(dir, { recursive: true, force: true }));

async function images(input: string, posterAtSec: number | null, storyboard = false) {
  const signal = AbortSignal.timeout(120_000);
  const source = await transcoder.probe(input, signal);
  const outDir = await mkdtemp(join(dir, 'out-'));
  const files = await transcoder.images({ input, source, outDir, signal, posterAtSec, storyboard });
  assert.deepEqual((await readdir(outDir)).toSorted(), files.toSorted());
  return { outDir, files };
}

/** Returns the images that an encode of 90 lines creates. */
async function onTheWay(input: string, alignToSource = false) {
  const signal = AbortSignal.timeout(120_000);
  const source = await transcoder.probe(input, signal);
  const outDir = await mkdtemp(join(dir, 'out-'));
  const rungs = transcoder.plan(source, 90).rungs.map((rung) => ({ ...rung, isCopy: false }));
  const run = { input, source, outDir, signal, rungs, audio: [], alignToSource };
  const { images, renditions } = await transcoder.encodeWithImages(run);
  assert.deepEqual(
    renditions.map(({ name }) => name),
    rungs.map(({ name }) => name),
  );
  const folder = join(outDir, 'img');
  assert.deepEqual((await readdir(folder)).toSorted(), images?.toSorted());
  return { outDir: folder, files: images ?? [] };
}

async function size(path: string): Promise<[number, number]> {
  const { width, height } = imageSize(await readFile(path));
  return [width, height];
}

/** Returns the mean brightness of each cell of an image, row by row, 0 to 255. */
async function brightnesses(path: string, columns: number, rows: number): Promise<number[]> {
  const filters = `scale=${columns}:${rows}:flags=area,format=gray`;
  const args = ['-nostdin', '-v', 'error', '-i', path, '-vf', filters, '-f', 'rawvideo', '-'];
  const { stdout } = await run('ffmpeg', args, { encoding: 'buffer' });
  return [...stdout];
}

/** Returns the mean brightness of an image, 0 to 255. */
async function brightness(path: string): Promise<number> {
  return (await brightnesses(path, 1, 1))[0] ?? -1;
}

/** Filter that brightens the video by 10 of 255 every second. */
const BRIGHTENING = "geq=lum='16+10*floor(T)':cb=128:cr=128";
/** Upscales: `geq` is slow. */
const LARGE = 'scale=320:180:flags=neighbor';

test('images: creates poster, storyboard with its times, and preview', async () => {
  const source = ['-f', 'lavfi', '-i', `color=black:s=32x18:r=10:d=20,${BRIGHTENING},${LARGE}`];
  const input = await make(dir, ...source, ...H264, '-g', '10', '-keyint_min', '10', 'bright.mp4');
  await assertImages(await images(input, null, true));
  await assertImages(await onTheWay(input));
  await assertImages(await onTheWay(input, true));
});

async function assertImages({ outDir, files }: { outDir: string; files: string[] }): Promise<void> {
  assert.deepEqual(files, ['poster.jpg', 'storyboard.vtt', 'sb_001.jpg', 'preview.webp']);
  assert.deepEqual(await size(join(outDir, 'poster.jpg')), [320, 180]);
  assert.deepEqual(await size(join(outDir, 'sb_001.jpg')), [1600, 900]);
  const [width, height] = await size(join(outDir, 'preview.webp'));
  assert.deepEqual([width, height], [320, 180]);
  assert.ok((await stat(join(outDir, 'preview.webp'))).size < 500_000);

  const vtt = await readFile(join(outDir, 'storyboard.vtt'), 'utf8');
  const cue = /00:00:(\d\d)\.000 --> 00:00:(\d\d)\.000\nsb_001\.jpg#xywh=(\d+),(\d+),160,90\n/g;
  const cues = [...vtt.matchAll(cue)].map((match) => match.slice(1).map(Number));
  assert.deepEqual(
    cues.map(([start, end]) => [start, end]),
    Array.from({ length: 10 }, (_, index) => [index * 2, index * 2 + 2]),
  );
  // Each tile shows the frame at its time.
  const tiles = await brightnesses(join(outDir, 'sb_001.jpg'), 10, 10);
  const grey = cues.map(([, , x = 0, y = 0]) => tiles[(y / 90) * 10 + x / 160] ?? -1);
  const steps = grey.slice(1).map((value, index) => value - (grey[index] ?? 0));
  for (const step of steps) assert.ok(step > 17 && step < 30, grey.join(' '));
}

test('images: the poster is not black when the video has brighter frames', async () => {
  const source = [
    '-f',
    'lavfi',
    '-i',
    "color=black:s=320x180:r=10:d=10,drawbox=c=white:t=fill:enable='gte(t,5)'",
  ];
  const input = await make(dir, ...source, ...H264, 'late.mp4');
  const chosen = await images(input, null);
  assert.deepEqual(chosen.files, ['poster.jpg']);
  assert.ok((await brightness(join(chosen.outDir, 'poster.jpg'))) > 200);
  const asked = await images(input, 2);
  assert.ok((await brightness(join(asked.outDir, 'poster.jpg'))) < 20);
  const made = await onTheWay(input);
  assert.ok((await brightness(join(made.outDir, 'poster.jpg'))) > 200);
  const beyond = await images(input, 999);
  assert.ok((await brightness(join(beyond.outDir, 'poster.jpg'))) > 200);
  const black = await make(dir, '-f', 'lavfi', '-i', 'color=black:s=64x64:r=5:d=2', ...H264, 'black.mp4');
  assert.deepEqual((await images(black, null)).files, ['poster.jpg']);
  assert.ok((await onTheWay(black)).files.includes('poster.jpg'));
});

test('images: the requested second is found in a file without random access', async () => {
  const source = ['-f', 'lavfi', '-i', `color=black:s=64x36:r=10:d=12,${BRIGHTENING}`];
  const { outDir } = await images(await make(dir, ...source, ...H264, '-g', '10', 'steps.flv'), 9);
  const grey = await brightness(join(outDir, 'poster.jpg'));
  assert.ok(Math.abs(grey - 105) < 8, `${grey}`);
});

test('images: few keyframes, many keyframes, a single frame, no index', async () => {
  const sheets = async (...args: string[]) => (await images(await make(dir, ...args), null, true)).outDir;
  const cues = async (folder: string) =>
    (await readFile(join(folder, 'storyboard.vtt'), 'utf8')).split('-->').length - 1;
  assert.equal(
    await cues(await sheets(...pictures('64x36', 10, 12), ...H264, '-g', '999', 'one-gop.mp4')),
    10,
  );
  assert.equal(await cues(await sheets(...pictures('64x36', 10, 12), '-c:v', 'mjpeg', 'all.avi')), 10);
  assert.equal(
    await cues(await sheets(...pictures('64x36', 10, 1), '-frames:v', '1', ...H264, 'one.mp4')),
    1,
  );
  assert.deepEqual((await onTheWay(join(dir, 'one.mp4'))).files, [
    'poster.jpg',
    'storyboard.vtt',
    'sb_001.jpg',
  ]);
  const flv = await sheets(...pictures('64x36', 10, 8), ...H264, '-g', '10', 'x.flv');
  assert.ok((await readdir(flv)).includes('preview.webp'));
});

test('images: portrait video keeps its aspect ratio, and a long video has few sheets', async () => {
  const long = ['-f', 'lavfi', '-i', 'testsrc2=s=36x64:r=1/4:d=7200', ...H264, '-g', '1'];
  const { outDir, files } = await images(await make(dir, ...long, 'long.mp4'), null, true);
  const boards = files.filter((name) => name.startsWith('sb_'));
  assert.equal(boards.length, 9);
  assert.deepEqual(await size(join(outDir, 'sb_009.jpg')), [1600, 2840]);
  const vtt = await readFile(join(outDir, 'storyboard.vtt'), 'utf8');
  assert.match(vtt, /01:59:5\d\.000 --> 02:00:00\.000\nsb_009\.jpg#xywh=/);
});
