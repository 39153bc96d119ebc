import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { needsOwnProcess } from '../../../test/harness/needs.ts';
import { make, packetTimes, testTranscoder } from '../../../test/transcode/sources.ts';
import { MediaFileError } from '../contract/index.ts';

needsOwnProcess();

const run = promisify(execFile);
const transcoder = testTranscoder({ threads: 2 });
let dir = '';
let count = 0;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'webp-'));
});
after(() => rm(dir, { recursive: true, force: true }));

const within = () => AbortSignal.timeout(30_000);

async function copied(path: string): Promise<string> {
  count += 1;
  const own = join(dir, `copy-${count}`);
  await mkdir(own);
  const copy = await transcoder.makeCopy(path, own, within());
  assert.deepEqual(await readdir(own), ['converted.mp4']);
  return copy;
}

/** Returns the frames of a file in RGB. */
async function rgb(path: string): Promise<Buffer> {
  const args = ['-v', 'error', '-i', path, '-map', '0:v', '-fps_mode', 'passthrough'];
  const raw = ['-f', 'rawvideo', '-pix_fmt', 'rgb24', '-'];
  const { stdout } = await run('ffmpeg', [...args, ...raw], { encoding: 'buffer', maxBuffer: 2 ** 28 });
  return stdout;
}

/** Returns the largest difference between two colors. */
function farthest(one: Buffer, other: Buffer): number {
  assert.equal(one.length, other.length);
  return one.reduce((most, value, at) => Math.max(most, Math.abs(value - (other[at] ?? 0))), 0);
}

const MOVING = ['-f', 'lavfi', '-i', 'testsrc=s=97x61:r=10:d=2'];
const LOSSLESS = ['-c:v', 'libwebp_anim', '-lossless', '1', '-loop', '0'];

test('an animation becomes a silent video, with every frame unchanged and at its time', async () => {
  const picked = ['-vf', "select='not(mod(n,5))'", '-fps_mode', 'passthrough'];
  const path = await make(dir, ...MOVING, ...picked, ...LOSSLESS, 'times.webp');
  assert.equal(await transcoder.needsCopy(path, within()), true);
  const bytes = await readFile(path);
  const shownMs = [100, 40, 760, 250];
  for (let at = 12; at < bytes.length; at = nextAt(bytes, at)) {
    if (bytes.toString('latin1', at, at + 4) === 'ANMF') bytes.writeUIntLE(shownMs.shift() ?? 0, at + 20, 3);
  }
  await writeFile(path, bytes);
  const copy = await copied(path);
  const source = await transcoder.probe(copy, within());
  assert.deepEqual([source.durationSec, source.audio, Math.round(source.video.frameRate)], [1.15, [], 50]);
  assert.deepEqual([source.video.width, source.video.height], [97, 61]);
  assert.notEqual(source.copyRefusal, null, 'players are not sent the copy');
  const still = ['-c:v', 'ffv1', '-pix_fmt', 'bgr0'];
  const expected = await rgb(await make(dir, ...MOVING, ...picked, ...still, 'expected.mkv'));
  const times = await packetTimes(copy);
  const pixels = await rgb(copy);
  const bytesEach = 97 * 61 * 3;
  const pictureOf = (all: Buffer, index: number) => all.subarray(index * bytesEach, (index + 1) * bytesEach);
  for (const [index, sec] of [0, 0.1, 0.14, 0.9].entries()) {
    const at = times.indexOf(sec);
    assert.ok(at >= 0, `no picture at ${sec}`);
    assert.ok(farthest(pictureOf(pixels, at), pictureOf(expected, index)) <= 6, `the picture at ${sec}`);
    const before = at === 0 ? null : pictureOf(pixels, at - 1);
    assert.ok(before === null || farthest(before, pictureOf(expected, index)) > 50, `before ${sec}`);
  }
  const { rungs, audio } = transcoder.plan(source, 720);
  const outDir = join(dir, 'out');
  await mkdir(outDir);
  const encoding = { input: copy, source, outDir, signal: within(), alignToSource: false };
  const [made] = await transcoder.encode({ ...encoding, rungs, audio });
  assert.deepEqual([made?.width, made?.height], [96, 60]);
});

test('an animation with a constant interval keeps it', async () => {
  const copy = await copied(await make(dir, ...MOVING, ...LOSSLESS, 'beat.webp'));
  const source = await transcoder.probe(copy, within());
  assert.deepEqual(
    [source.durationSec, source.video.frameRate, (await packetTimes(copy)).length],
    [2, 10, 20],
  );
});

test('small, transparent and cleared frames are composited over white', async () => {
  const color = (name: string, size: string) => [
    '-f',
    'lavfi',
    '-i',
    `color=${name}:s=${size}:r=1:d=1,format=rgba`,
  ];
  const still = (name: string, size: string, file: string) =>
    make(dir, ...color(name, size), '-frames:v', '1', '-c:v', 'libwebp', '-lossless', '1', file);
  const red = await chunkOf(await still('red', '20x10', 'red.webp'));
  const half = await chunkOf(await still('blue@0.5', '8x4', 'half.webp'));
  const lossy = await make(
    dir,
    ...color('lime@0.25', '8x4'),
    '-frames:v',
    '1',
    '-c:v',
    'libwebp',
    '-pix_fmt',
    'yuva420p',
    'lossy.webp',
  );
  const frames = [
    frame({ at: [0, 0], size: [20, 10], ms: 50 }, red),
    frame({ at: [4, 2], size: [8, 4], ms: 5, clears: true }, half),
    frame({ at: [12, 6], size: [8, 4], ms: 50 }, half),
    frame({ at: [0, 0], size: [8, 4], ms: 50, covers: true }, half),
    frame({ at: [0, 6], size: [8, 4], ms: 50, covers: true }, await chunkOf(lossy)),
  ];
  const path = join(dir, 'layers.webp');
  await writeFile(path, animation([20, 10], frames));
  const copy = await copied(path);
  assert.deepEqual(await packetTimes(copy), [0, 0.05, 0.1, 0.15, 0.2, 0.25]);
  const pixels = await rgb(copy);
  // The second frame is shown twice as long as the others.
  const at = (shown: number, x: number, y: number, picture = shown > 1 ? shown + 1 : shown) => [
    ...pixels.subarray((picture * 200 + y * 20 + x) * 3, (picture * 200 + y * 20 + x) * 3 + 3),
  ];
  const RED = [255, 0, 0];
  const PURPLE = [127, 0, 128];
  const WHITE = [255, 255, 255];
  const expected: [picture: number, x: number, y: number, color: number[]][] = [
    [0, 6, 3, RED],
    [1, 6, 3, PURPLE],
    [1, 0, 0, RED],
    [2, 6, 3, WHITE],
    [2, 14, 8, PURPLE],
    [2, 0, 0, RED],
    [3, 1, 1, [127, 127, 255]],
    [3, 14, 8, PURPLE],
    [4, 2, 8, [191, 255, 191]],
  ];
  for (const [picture, x, y, color] of expected) {
    const found = at(picture, x, y);
    const distance = Math.max(...found.map((value, index) => Math.abs(value - (color[index] ?? 0))));
    assert.ok(distance <= 8, `picture ${picture} at ${x}, ${y}: ${found}, not ${color}`);
  }
});

test('a large animation needs memory for little more than one frame', async () => {
  const size = [7680, 2304] as const;
  const color = ['-f', 'lavfi', '-i', `color=red:s=${size.join('x')}:r=1:d=1,format=rgba`];
  const coded = ['-frames:v', '1', '-c:v', 'libwebp', '-lossless', '1', '-compression_level', '0'];
  const picture = await chunkOf(await make(dir, ...color, ...coded, 'large-still.webp'));
  const path = join(dir, 'large.webp');
  const large = frame({ at: [0, 0], size: [...size], ms: 100 }, picture);
  await writeFile(path, animation([...size], [large, large]));
  let most = 0;
  const before = process.memoryUsage().arrayBuffers;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }, 2);
  const copy = await copied(path).finally(() => clearInterval(timer));
  const own = size[0] * size[1] * 4;
  assert.ok(most >= own && most < own * 2, `${most / own} pictures`);
  assert.deepEqual(await packetTimes(copy), [0, 0.1]);
});

test('files that are damaged, too large or not animated are rejected', async () => {
  const path = await make(dir, ...MOVING, ...LOSSLESS, 'whole.webp');
  const whole = await readFile(path);
  const changed = (change: (bytes: Buffer) => Buffer | undefined) => {
    const bytes = Buffer.from(whole);
    return change(bytes) ?? bytes;
  };
  const first = whole.indexOf('ANMF') + 8;
  const code = whole.indexOf('VP8L', first);
  const picture = whole.subarray(code + 8, nextAt(whole, code));
  const padded = frame(
    { at: [0, 0], size: [97, 61], ms: 100 },
    chunk('VP8L', picture, Buffer.alloc(2 ** 16)),
  );
  /** Extends every frame to hours. */
  const stretch = (bytes: Buffer) => {
    for (let at = 12; at < bytes.length; at = nextAt(bytes, at)) {
      if (bytes.toString('latin1', at, at + 4) === 'ANMF') bytes.writeUIntLE(2 ** 24 - 1, at + 20, 3);
    }
    return undefined;
  };
  const cases: [name: string, code: string, bytes: Buffer][] = [
    ['cut', 'CORRUPT_INPUT', whole.subarray(0, whole.length / 2)],
    [
      'another size of a picture',
      'CORRUPT_INPUT',
      changed((bytes) => void bytes.writeUIntLE(3, first + 6, 3)),
    ],
    ['beyond the canvas', 'CORRUPT_INPUT', changed((bytes) => void bytes.writeUIntLE(4, first, 3))],
    ['noise', 'CORRUPT_INPUT', changed((bytes) => void bytes.fill(0xa5, code + 13, code + 200))],
    ['a huge canvas', 'UNSUPPORTED_FORMAT', changed((bytes) => void bytes.writeUIntLE(9000, 24, 3))],
    [
      'one picture',
      'UNSUPPORTED_FORMAT',
      animation([97, 61], [whole.subarray(first - 8, nextAt(whole, first - 8))]),
    ],
    ['none', 'UNSUPPORTED_FORMAT', animation([97, 61], [])],
    ['days', 'DURATION_EXCEEDED', changed((bytes) => stretch(bytes))],
    ['pictures of more bytes than they can have', 'CORRUPT_INPUT', animation([97, 61], [padded, padded])],
  ];
  for (const [name, code, bytes] of cases) {
    const file = join(dir, 'hostile.webp');
    await writeFile(file, bytes);
    await assert.rejects(
      copied(file),
      (error) => error instanceof MediaFileError && error.code === code,
      name,
    );
  }
  assert.equal(
    await transcoder.needsCopy(await make(dir, ...MOVING, '-frames:v', '1', 'still.webp'), within()),
    false,
  );
});

/** Returns the image chunks of a WebP file written by ffmpeg, without the container. */
async function chunkOf(path: string): Promise<Buffer> {
  const bytes = await readFile(path);
  const isExtended = bytes.toString('latin1', 12, 16) === 'VP8X';
  return bytes.subarray(isExtended ? 30 : 12);
}

function chunk(name: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const head = Buffer.alloc(8);
  head.write(name, 0, 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
}

interface Layer {
  at: [x: number, y: number];
  size: [width: number, height: number];
  ms: number;
  covers?: boolean;
  clears?: boolean;
}

function frame({ at, size, ms, covers = false, clears = false }: Layer, picture: Buffer): Buffer {
  const head = Buffer.alloc(16);
  head.writeUIntLE(at[0] / 2, 0, 3);
  head.writeUIntLE(at[1] / 2, 3, 3);
  head.writeUIntLE(size[0] - 1, 6, 3);
  head.writeUIntLE(size[1] - 1, 9, 3);
  head.writeUIntLE(ms, 12, 3);
  head.writeUInt8((covers ? 2 : 0) | (clears ? 1 : 0), 15);
  return chunk('ANMF', head, picture);
}

function animation([width, height]: [number, number], frames: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt8(0x12, 0);
  head.writeUIntLE(width - 1, 4, 3);
  head.writeUIntLE(height - 1, 7, 3);
  return chunk('RIFF', Buffer.from('WEBP'), chunk('VP8X', head), chunk('ANIM', Buffer.alloc(6)), ...frames);
}

/** Returns the offset of the next chunk. */
function nextAt(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32LE(at + 4);
  return at + 8 + length + (length % 2);
}
