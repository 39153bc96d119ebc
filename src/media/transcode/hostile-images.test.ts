import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { peakOfChildren } from '../../../test/transcode/memory.ts';
import { make, pictures, testTranscoder } from '../../../test/transcode/sources.ts';

const transcoder = testTranscoder();
let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hostile-pictures-'));
});
after(() => rm(dir, { recursive: true, force: true }));

/** One pixel, LZW-encoded (GIF89a, appendix F). */
const PIXEL = Buffer.from('0202440100', 'hex');

interface Frame {
  size?: [width: number, height: number];
  /** Delay in hundredths of a second. */
  delay: number;
  data?: Buffer;
}

function frame({ size = [1, 1], delay, data = PIXEL }: Frame): Buffer {
  const control = Buffer.from('21f9040000000000', 'hex');
  control.writeUInt16LE(delay, 4);
  const descriptor = Buffer.alloc(10);
  descriptor.writeUInt8(0x2c, 0);
  descriptor.writeUInt16LE(size[0], 5);
  descriptor.writeUInt16LE(size[1], 7);
  return Buffer.concat([control, descriptor, data]);
}

/** Builds a looping GIF of two colors (https://www.w3.org/Graphics/GIF/spec-gif89a.txt). */
async function gif(size: [width: number, height: number], frames: readonly Buffer[]): Promise<string> {
  const screen = Buffer.alloc(7);
  screen.writeUInt16LE(size[0], 0);
  screen.writeUInt16LE(size[1], 2);
  screen.writeUInt8(0x80, 4);
  const endless = Buffer.from('21ff0b4e45545343415045322e300301000000', 'hex');
  const path = join(dir, 'upload.gif');
  const head = [Buffer.from('GIF89a'), screen, Buffer.from('000000ffffff', 'hex'), endless];
  await writeFile(path, Buffer.concat([...head, ...frames, Buffer.from(';')]));
  return path;
}

const many = (count: number, one: Frame) => Array.from({ length: count }, () => frame(one));
const probe = (path: string) => transcoder.probe(path, AbortSignal.timeout(60_000));

const REFUSED: [name: string, code: string, size: [number, number], frames: () => Buffer[]][] = [
  ['a canvas of 16,000 by 16,000', 'UNSUPPORTED_FORMAT', [16_000, 16_000], () => many(2, { delay: 10 })],
  [
    'pixels on a canvas of 8K, a thousand times',
    'UNSUPPORTED_FORMAT',
    [7680, 4320],
    () => many(1000, { delay: 4 }),
  ],
  [
    'some that stand for long at the pace of others',
    'UNSUPPORTED_FORMAT',
    [7680, 4320],
    () => [...many(20, { delay: 2 }), ...many(10, { delay: 65_535 })],
  ],
  ['forty thousand pictures', 'UNSUPPORTED_FORMAT', [16, 16], () => many(40_000, { delay: 10 })],
  ['half a day', 'DURATION_EXCEEDED', [16, 16], () => many(70, { delay: 65_535 })],
];

for (const [name, code, size, frames] of REFUSED) {
  test(`hostile GIF: ${name}`, async () => {
    const path = await gif(size, frames());
    const peak = await peakOfChildren(() => assert.rejects(probe(path), { name: 'MediaFileError', code }));
    assert.ok(peak < 700, `${peak} MB`);
  });
}

test('hostile GIF: frames with a delay of zero get the duration that browsers use', async () => {
  const { durationSec, video } = await probe(await gif([16, 16], many(20, { delay: 0 })));
  assert.deepEqual([durationSec, video.frameRate], [2, 10]);
});

test('hostile GIF: frames larger than their canvas, and noise for pixels, take no memory', async () => {
  const noise = () => {
    const blocks = Array.from({ length: 400 }, () => Buffer.concat([Buffer.from([255]), randomBytes(255)]));
    return Buffer.concat([Buffer.from([8]), ...blocks, Buffer.from([0])]);
  };
  const huge: Frame = { size: [65_535, 65_535], delay: 10 };
  const path = await gif([64, 64], [frame(huge), ...many(5, { ...huge, data: noise() })]);
  const peak = await peakOfChildren(() =>
    probe(path).catch((error) => assert.equal(error.code, 'CORRUPT_INPUT')),
  );
  assert.ok(peak < 200, `${peak} MB`);
});

test('an animated AVIF becomes a silent video', async () => {
  const coded = ['-c:v', 'libsvtav1', '-preset', '12', '-f', 'avif'];
  const { durationSec, audio, video } = await probe(
    await make(dir, ...pictures('128x96', 10, 1), ...coded, 'a.avif'),
  );
  assert.deepEqual([durationSec, audio, video.codec, video.frameRate], [1, [], 'av1', 10]);
});

test('an animated PNG is rejected, and the message names the format', async () => {
  const path = await make(dir, ...pictures('64x64', 5, 1), '-f', 'apng', 'moving.png');
  await assert.rejects(probe(path), { code: 'UNSUPPORTED_FORMAT', message: /Animated PNG/ });
});
