import assert from 'node:assert/strict';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { H264, make, pictures, testTranscoder, tone } from '../../../test/transcode/sources.ts';

const transcoder = testTranscoder();
let dir = '';
/** Six seconds with a sound, its index in front. */
let whole = '';

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'faulty-'));
  const source = [...pictures('160x90', 25, 6), ...tone(6), ...H264, '-g', '25', '-c:a', 'aac'];
  whole = await make(dir, ...source, '-movflags', '+faststart', 'whole.mp4');
});
after(() => rm(dir, { recursive: true, force: true }));

async function file(name: string, content: Buffer | string): Promise<string> {
  const path = join(dir, name);
  await writeFile(path, content);
  return path;
}

async function cut(path: string, share: number, name: string): Promise<string> {
  const bytes = await readFile(path);
  return file(name, bytes.subarray(0, Math.floor(bytes.length * share)));
}

const REFUSED: [string, string, () => Promise<string>][] = [
  ['nothing', 'CORRUPT_INPUT', () => file('empty', '')],
  ['a text', 'UNSUPPORTED_FORMAT', () => file('text.mp4', 'Dear video, …')],
  ['a PNG', 'UNSUPPORTED_FORMAT', () => make(dir, ...pictures('64x64', 1, 1), '-frames:v', '1', 'x.png')],
  ['a GIF', 'UNSUPPORTED_FORMAT', () => make(dir, ...pictures('64x64', 5, 1), 'x.gif')],
  ['an MP3', 'NO_VIDEO_TRACK', () => make(dir, ...tone(1), '-c:a', 'mp3', 'x.mp3')],
  ['an M4A', 'NO_VIDEO_TRACK', () => make(dir, ...tone(1), '-c:a', 'aac', 'x.m4a')],
  [
    'sound with a cover',
    'NO_VIDEO_TRACK',
    () => {
      const cover = ['-frames:v', '1', '-c:v', 'mjpeg', '-disposition:v', 'attached_pic'];
      return make(dir, ...tone(1), ...pictures('64x64', 1, 1), '-c:a', 'aac', ...cover, 'cover.m4a');
    },
  ],
  [
    'an MP4 whose index at the end is missing',
    'CORRUPT_INPUT',
    async () => cut(await make(dir, '-i', whole, '-c', 'copy', 'end.mp4'), 0.7, 'cut-end.mp4'),
  ],
  [
    'a header with noise behind it',
    'CORRUPT_INPUT',
    async () => {
      const bytes = await readFile(whole);
      const media = bytes.indexOf('mdat', 0, 'latin1') + 4;
      return file('noise.mp4', Buffer.concat([bytes.subarray(0, media), Buffer.alloc(bytes.length, 0x5a)]));
    },
  ],
  ['an index whose table of sizes is noise', 'CORRUPT_INPUT', () => withSizes(0xff, 4, 200)],
  ['an index that has lost its table of sizes', 'CORRUPT_INPUT', () => withSizes(0x78, -4, 4)],
  ['an index that counts more than there is', 'CORRUPT_INPUT', () => withSizes(0x10, 8, 1)],
  ['an index that counts billions', 'CORRUPT_INPUT', () => withSizes(0x7f, 8, 4)],
  ['an index that counts nothing', 'CORRUPT_INPUT', () => withSizes(0, 8, 4)],
  [
    'a header of Matroska with noise behind it',
    'CORRUPT_INPUT',
    async () => {
      const bytes = await readFile(await make(dir, '-i', whole, '-c', 'copy', 'whole.mkv'));
      const segment = bytes.indexOf('18538067', 0, 'hex');
      return file('noise.mkv', Buffer.concat([bytes.subarray(0, segment), Buffer.alloc(200_000, 0x5a)]));
    },
  ],
];

/**
 * The whole file with some bytes set in or near its table of sizes (`stsz`), whose content is: version and flags,
 * one size for all, how many, and each.
 */
async function withSizes(byte: number, offset: number, count: number): Promise<string> {
  const bytes = await readFile(whole);
  const at = bytes.indexOf('stsz', 0, 'latin1') + 4 + offset;
  return file('sizes.mp4', bytes.fill(byte, at, at + count));
}

for (const [name, code, source] of REFUSED) {
  test(`refused: ${name} is ${code}`, async () => {
    const path = await source();
    await assert.rejects(transcoder.probe(path, AbortSignal.timeout(20_000)), {
      name: 'MediaFileError',
      code,
    });
  });
}

for (const [name, container] of [
  ['an MP4 with its index in front', 'mp4'],
  ['Matroska', 'mkv'],
  ['a transport stream', 'ts'],
] as const) {
  test(`cut short: ${name} is taken as far as it goes`, async () => {
    const full =
      container === 'mp4' ? whole : await make(dir, '-i', whole, '-c', 'copy', `full.${container}`);
    const path = await cut(full, 0.5, `half.${container}`);
    const source = await transcoder.probe(path, AbortSignal.timeout(20_000));
    assert.ok(source.durationSec > 1.5 && source.durationSec < 4.5, `${source.durationSec} s`);
    assert.notEqual(source.copyRefusal, null);
  });
}

test('probe: a file that is not there is no fault of the file', async () => {
  await assert.rejects(transcoder.probe(join(dir, 'absent.mp4'), AbortSignal.timeout(5000)), {
    code: 'ENOENT',
  });
});

test('probe: a file of many gigabytes with nothing in it', async () => {
  const path = join(dir, 'sparse.mp4');
  const handle = await open(path, 'w');
  await handle.write(await readFile(whole));
  await handle.truncate(50 * 2 ** 30);
  await handle.close();
  const startedMs = performance.now();
  const source = await transcoder.probe(path, AbortSignal.timeout(40_000));
  assert.equal(source.durationSec, 6);
  assert.ok(performance.now() - startedMs < 20_000);
});
