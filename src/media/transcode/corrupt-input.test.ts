import assert from 'node:assert/strict';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { H264, make, pictures, testTranscoder, tone } from '../../../test/transcode/sources.ts';
import { MediaFileError } from '../contract/index.ts';
import { checkComplete } from './completeness.ts';

const transcoder = testTranscoder();
let dir = '';
/** Path of a file of six seconds with audio and its index at the front. */
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
  ['a JPEG', 'UNSUPPORTED_FORMAT', () => make(dir, ...pictures('64x64', 1, 1), '-frames:v', '1', 'x.jpg')],
  ['a WebP', 'UNSUPPORTED_FORMAT', () => make(dir, ...pictures('64x64', 1, 1), '-frames:v', '1', 'x.webp')],
  ['a GIF of one picture', 'UNSUPPORTED_FORMAT', () => make(dir, ...pictures('64x64', 1, 1), 'x.gif')],
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
 * Returns the whole file with some bytes set in or near its sample size table (`stsz`), whose content is:
 * version and flags, a common size, the count, and each size.
 */
async function withSizes(byte: number, offset: number, count: number): Promise<string> {
  const bytes = await readFile(whole);
  const at = bytes.indexOf('stsz', 0, 'latin1') + 4 + offset;
  return file('sizes.mp4', bytes.fill(byte, at, at + count));
}

for (const [name, code, source] of REFUSED) {
  test(`rejected: ${name} is ${code}`, async () => {
    const path = await source();
    await assert.rejects(transcoder.probe(path, AbortSignal.timeout(20_000)), {
      name: 'MediaFileError',
      code,
    });
  });
}

const cutTo = async (container: string, share: number, ...args: string[]) => {
  const full = await make(dir, '-i', whole, '-c', 'copy', ...args, `full.${container}`);
  return transcoder.probe(await cut(full, share, `cut.${container}`), AbortSignal.timeout(100_000));
};
/** Result of a scan that was ended before it began. */
const NOT_READ = {
  ...{ video: null, audio: new Map(), endSec: 0, maxKeyframeGapSec: 0, beginsWithKeyframe: true },
  ...{ hasOpenGop: false, isEdited: false, hasAllTimestamps: true },
};
const FASTSTART = ['-movflags', '+faststart'];
const FRAGMENTED = ['-movflags', '+frag_keyframe+empty_moov'];
/** Arguments for an index of all fragments at the front, as in DASH files. */
const INDEXED = ['-movflags', '+dash+global_sidx'];

for (const [name, container, args] of [
  ['an MP4 with its index in front', 'mp4', FASTSTART],
  ['a fragmented MP4 with an index', 'mp4', INDEXED],
  ['Matroska', 'mkv', []],
  ['Flash', 'flv', []],
  ['AVI', 'avi', ['-c:v', 'mpeg4', '-c:a', 'mp3']],
] as const) {
  test(`cut short: half of ${name} is rejected with both lengths`, async () => {
    await assert.rejects(cutTo(container, 0.5, ...args), (error) => {
      assert.ok(error instanceof MediaFileError && error.code === 'CORRUPT_INPUT');
      const [, there, all] = /^The file is truncated: ([\d.]+) of ([\d.]+) seconds/.exec(error.message) ?? [];
      assert.ok(Number(there) > 1.5 && Number(there) < 4.5 && Math.round(Number(all)) === 6, error.message);
      return true;
    });
  });
}

test('cut short: a file that lacks less than a twentieth is accepted', async () => {
  for (const [container, args] of [
    ['mp4', FASTSTART],
    ['mkv', []],
  ] as const) {
    const source = await cutTo(container, 0.98, ...args);
    assert.ok(source.durationSec > 5.7 && source.durationSec < 6, `${container}: ${source.durationSec} s`);
  }
});

test('cut short: a file without a declared length is accepted as it is', async () => {
  for (const [container, args] of [
    ['ts', []],
    ['mov', FRAGMENTED],
    ['mp4', ['-movflags', '+frag_keyframe']],
    ['webm', ['-c:v', 'libvpx', '-c:a', 'libopus', '-live', '1']],
  ] as const) {
    const source = await cutTo(container, 0.5, ...args);
    assert.ok(source.durationSec > 1.5 && source.durationSec < 4.5, `${container}: ${source.durationSec} s`);
  }
});

/** Builds the fragments with a header that declares `ticks` milliseconds (`mehd`); without one when null. */
async function announcing(ticks: number | null): Promise<Buffer> {
  const flags = ['-movflags', '+frag_keyframe+empty_moov+default_base_moof'];
  const bytes = await readFile(await make(dir, '-i', whole, '-c', 'copy', ...flags, 'plain.mp4'));
  if (ticks === null) return bytes;
  const mehd = Buffer.alloc(16);
  mehd.writeUInt32BE(16);
  mehd.write('mehd', 4, 'latin1');
  mehd.writeUInt32BE(ticks, 12);
  const inside = bytes.indexOf('mvex', 0, 'latin1') + 4;
  for (const box of ['moov', 'mvex']) {
    const at = bytes.indexOf(box, 0, 'latin1') - 4;
    bytes.writeUInt32BE(bytes.readUInt32BE(at) + mehd.length, at);
  }
  return Buffer.concat([bytes.subarray(0, inside), mehd, bytes.subarray(inside)]);
}

test('cut short: fragments are compared with the length in their header, if any', async () => {
  const probe = async (bytes: Buffer, share: number) =>
    transcoder.probe(
      await file('announced.mp4', bytes.subarray(0, Math.floor(bytes.length * share))),
      AbortSignal.timeout(20_000),
    );
  const announced = await announcing(6000);
  assert.equal((await probe(announced, 1)).durationSec, 6.021);
  await assert.rejects(probe(announced, 0.5), { code: 'CORRUPT_INPUT', message: / of 6\.0 seconds/ });
  const unknown = await announcing(null);
  // The duration of `mvhd`, where it is not known.
  unknown.fill(0xff, unknown.indexOf('mvhd', 0, 'latin1') + 20, unknown.indexOf('mvhd', 0, 'latin1') + 24);
  const { durationSec } = await probe(unknown, 0.5);
  assert.ok(durationSec > 1.5 && durationSec < 4.5, `${durationSec} s`);
});

test('fragments that begin before or long after zero count as complete', async () => {
  const index = '+dash+global_sidx+delay_moov';
  for (const [name, before, after] of [
    ['edited.mp4', ['-ss', '2.5'], ['-movflags', index]],
    ['later.mp4', ['-ss', '2'], ['-movflags', `${index}+frag_discont`, '-output_ts_offset', '3600']],
  ] as const) {
    const path = await make(dir, ...before, '-i', whole, '-c', 'copy', ...after, name);
    const { durationSec } = await transcoder.probe(path, AbortSignal.timeout(20_000));
    assert.ok(durationSec > 3 && durationSec < 4.5, `${name}: ${durationSec} s`);
  }
});

/** Checks a file by its bytes, as after a scan that took too long. */
const judgeBytes = (path: string, format_name: string) => {
  const scan = { ...NOT_READ, isComplete: false };
  return checkComplete({ path, report: { streams: [], format: { format_name } }, video: { index: 0 }, scan });
};

test('cut short: a file too long to be read to its end is judged by its bytes', async () => {
  for (const [container, format_name, args] of [
    ['mp4', 'mov,mp4', FASTSTART],
    ['mp4', 'mov,mp4', INDEXED],
    ['mkv', 'matroska,webm', []],
    ['avi', 'avi', []],
    ['flv', 'flv', []],
    ['asf', 'asf', []],
  ] as const) {
    const full = await make(dir, '-i', whole, '-c', 'copy', ...args, `long.${container}`);
    await judgeBytes(full, format_name);
    await judgeBytes(await cut(full, 0.97, `most.${container}`), format_name);
    await assert.rejects(judgeBytes(await cut(full, 0.7, `some.${container}`), format_name), {
      code: 'CORRUPT_INPUT',
      message: /(69|70)% of its bytes are present/,
    });
  }
});

test('cut short: an unfinished recording declares no size', async () => {
  for (const [container, args] of [
    ['avi', ['-seekable', '0']],
    ['flv', ['-flvflags', 'no_duration_filesize']],
    ['asf', ['-seekable', '0']],
  ] as const) {
    const open = await make(dir, '-i', whole, '-c', 'copy', ...args, `open.${container}`);
    await judgeBytes(await cut(open, 0.5, `half.${container}`), container);
  }
});

test('a file of millions of boxes is judged quickly', async () => {
  const bytes = await readFile(whole);
  const media = bytes.indexOf('mdat', 0, 'latin1') - 4;
  const empty = Buffer.alloc(8);
  empty.writeUInt32BE(8);
  empty.write('free', 4, 'latin1');
  const boxes = Buffer.alloc(8 * 2_000_000, empty);
  const path = await file(
    'boxes.mp4',
    Buffer.concat([bytes.subarray(0, media), boxes, bytes.subarray(media)]),
  );
  const report = { streams: [], format: { format_name: 'mov,mp4', duration: '6' } };
  const pace = { packets: 150, bytes: 60_000, frameSec: 0.04, meanFrameSec: 0.04, isVariable: false };
  const video = { startSec: 0, endSec: 6, lastEndSec: 6, ...pace };
  const startedMs = performance.now();
  await checkComplete({
    path,
    report,
    video: { index: 0, duration: '6' },
    scan: { ...NOT_READ, isComplete: true, video },
  });
  assert.ok(performance.now() - startedMs < 2000);
});

test('a frame shown for the rest of the file does not count as missing', async () => {
  const path = await make(dir, ...pictures('64x64', '1/4', 8), ...H264, ...FASTSTART, 'slides.mp4');
  assert.equal((await transcoder.probe(path, AbortSignal.timeout(20_000))).durationSec, 8);
});

test('a GIF becomes a silent video', async () => {
  const path = await make(dir, ...pictures('63x41', 10, 2), 'moving.gif');
  const source = await transcoder.probe(path, AbortSignal.timeout(20_000));
  assert.deepEqual([source.durationSec, source.video.frameRate, source.audio], [2, 10, []]);
  const outDir = join(dir, 'gif-out');
  await mkdir(outDir);
  const { rungs, audio } = transcoder.plan(source, 720);
  const run = { input: path, source, outDir, signal: AbortSignal.timeout(60_000), alignToSource: false };
  const [made] = await transcoder.encode({ ...run, rungs, audio });
  assert.deepEqual([made?.width, made?.height, made?.frameRate], [62, 40, 10]);
});

test('probe: a missing file is not the fault of the file', async () => {
  await assert.rejects(transcoder.probe(join(dir, 'absent.mp4'), AbortSignal.timeout(5000)), {
    code: 'ENOENT',
  });
});

test('probe: a file followed by many gigabytes of zeros is probed quickly', async () => {
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
