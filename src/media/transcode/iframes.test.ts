import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { assertNear, type Made, segments, transcode } from '../../../test/transcode/result.ts';
import { H264, make } from '../../../test/transcode/sources.ts';

const run = promisify(execFile);
let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'iframes-'));
});
after(() => rm(dir, { recursive: true, force: true }));

/** Returns the presentation time and content hash of each decodable frame, from ffmpeg's framemd5 output. */
async function decoded(path: string): Promise<{ sec: number; md5: string }[]> {
  const args = [
    '-nostdin',
    '-v',
    'quiet',
    '-copyts',
    '-i',
    path,
    '-fps_mode',
    'passthrough',
    '-f',
    'framemd5',
    '-',
  ];
  const { stdout } = await run('ffmpeg', args, { maxBuffer: 2 ** 24 });
  const [, ticks = 0, second = 1] = /^#tb 0: (\d+)\/(\d+)/m.exec(stdout)?.map(Number) ?? [];
  const lines = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const fields = line.split(',').map((field) => field.trim());
    return { sec: (Number(fields[2]) * ticks) / second, md5: fields.at(-1) ?? '' };
  });
}

interface Entry {
  sec: number;
  bytes: number;
  offset: number;
  file: string;
}

/** Parses an I-frame playlist; fails on any line that draft-pantos-hls-rfc8216bis 4.4.3.6 does not permit. */
function parseStrictly(text: string): Entry[] {
  const [head = '', body = ''] = text.split('#EXT-X-MAP:URI="init.mp4"\n');
  const target = Number(/^#EXT-X-TARGETDURATION:(\d+)$/m.exec(head)?.[1]);
  assert.equal(
    head,
    `#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:${target}\n#EXT-X-MEDIA-SEQUENCE:0\n` +
      '#EXT-X-PLAYLIST-TYPE:VOD\n#EXT-X-I-FRAMES-ONLY\n',
  );
  const entry = /#EXTINF:([\d.]+),\n#EXT-X-BYTERANGE:(\d+)@(\d+)\n(s_\d{5}\.m4s)\n/y;
  const entries: Entry[] = [];
  for (let match = entry.exec(body); match !== null; match = entry.exec(body)) {
    const [, sec, bytes, offset, file = ''] = match;
    entries.push({ sec: Number(sec), bytes: Number(bytes), offset: Number(offset), file });
  }
  assert.ok(body.endsWith(`${entries.at(-1)?.file}\n#EXT-X-ENDLIST\n`), body);
  for (const { sec } of entries) assert.ok(Math.round(sec) <= target, `${sec} of at most ${target}`);
  return entries;
}

/** Asserts that each entry, decoded separately, equals the frame of the rendition at that time. */
async function assertPictures(made: Made, name: string): Promise<void> {
  const folder = join(made.outDir, name);
  const entries = parseStrictly(await readFile(join(folder, 'iframes.m3u8'), 'utf8'));
  assert.deepEqual(
    entries.map(({ sec }) => sec),
    await segments(made.path(name)),
  );
  const all = await decoded(made.path(name));
  const init = await readFile(join(folder, 'init.mp4'));
  let atSec = 0;
  for (const { sec, bytes, offset, file } of entries) {
    const media = await readFile(join(folder, file));
    assert.ok(offset + bytes < media.length, 'it is a part of the segment');
    const alone = join(made.outDir, 'alone.mp4');
    await writeFile(alone, Buffer.concat([init, media.subarray(offset, offset + bytes)]));
    const [picture, ...others] = await decoded(alone);
    assert.deepEqual(others, [], 'one picture');
    assertNear(picture?.sec ?? -1, atSec, 0.05, `${name} ${file}`);
    assert.equal(picture?.md5, all.find((one) => Math.abs(one.sec - atSec) < 0.02)?.md5);
    atSec += sec;
  }
}

test('iframes: list the first frame of each segment as independently decodable, for copied and encoded renditions', async () => {
  const source = [
    '-f',
    'lavfi',
    '-i',
    'testsrc2=s=480x270:r=25:d=14',
    ...H264,
    '-preset',
    'veryfast',
    '-bf',
    '3',
  ];
  const made = await transcode(dir, await make(dir, ...source, '-b:v', '600k', '-g', '50', 'pictures.mp4'));
  assert.ok(made.isCopied);
  for (const { name, iframeBitrate, peakBitrate, frameRate, files } of made.renditions) {
    await assertPictures(made, name);
    assert.ok(iframeBitrate !== null && iframeBitrate > 0 && iframeBitrate < peakBitrate);
    assert.ok(files.includes('iframes.m3u8'));
    assert.equal(frameRate, 25);
  }
});

test('iframes: FRAME-RATE of a copy with a variable rate is that of its fastest second', async () => {
  const source = ['-f', 'lavfi', '-i', 'testsrc2=s=320x180:r=60:d=8'];
  const filter = ['-vf', "select='gte(t,6)+not(mod(n,2))'", '-fps_mode', 'vfr'];
  const args = [...source, ...filter, ...H264, '-b:v', '600k', '-g', '60', 'uneven.mp4'];
  const made = await transcode(dir, await make(dir, ...args));
  assert.ok(made.isCopied && made.source.video.isVariableFrameRate);
  assertNear(made.renditions[0]?.frameRate ?? 0, 60, 1, 'frames of the fastest second');
});
