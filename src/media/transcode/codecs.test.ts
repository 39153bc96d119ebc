import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { CURRENT_FFMPEG } from '../../../test/live/current-ffmpeg.ts';
import { COMMON, testPairs } from '../../../test/transcode/codec-pairs.ts';
import { H264, make, pictures, testTranscoder, tone } from '../../../test/transcode/sources.ts';
import { createLogger } from '../../platform/logger.ts';
import { FILE_DECODERS, OPENED_FOR_SUBTITLES } from '../ffmpeg/codecs.ts';
import { inputGuard } from '../ffmpeg/guard.ts';
import { spawnFfmpeg } from '../ffmpeg/process.ts';

const run = promisify(execFile);
const FFMPEGS = ['ffmpeg', CURRENT_FFMPEG].filter((bin) => bin === 'ffmpeg' || existsSync(bin));
const transcoder = testTranscoder();

let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'codecs-'));
});
after(() => rm(dir, { recursive: true, force: true }));

testPairs(COMMON, () => dir);

const REFUSED: [what: string, decoder: string, args: string[]][] = [
  ['pictures', 'cinepak', ['-c:v', 'cinepak', '-c:a', 'aac', 'cinepak.mov']],
  ['pictures', 'zmbv', ['-c:v', 'zmbv', '-c:a', 'aac', 'zmbv.avi']],
  ['pictures', 'jpeg2000', ['-c:v', 'jpeg2000', '-c:a', 'aac', 'jpeg2000.mov']],
  ['pictures like those of cover art', 'tiff', ['-c:v', 'tiff', '-c:a', 'aac', 'tiff.mov']],
  ['sound', 'wavpack', [...H264, '-c:a', 'wavpack', 'wavpack.mkv']],
  ['a second sound', 'tta', ['-map', '0', '-map', '1', '-map', '1', ...H264, '-c:a:1', 'tta', 'tta.mkv']],
];

for (const [what, decoder, args] of REFUSED) {
  test(`codecs: ${what} in ${decoder}: rejected with a message, and never decoded`, async () => {
    const path = await make(dir, ...pictures('64x48', 10, 0.5), ...tone(0.5), ...args);
    const refusal = transcoder.probe(path, AbortSignal.timeout(120_000));
    await assert.rejects(refusal, {
      name: 'MediaFileError',
      code: 'UNSUPPORTED_FORMAT',
      message: `A track of the file uses ${decoder}, which is not supported. Export it as H.264 with AAC audio.`,
    });
    const decoded = ['-nostdin', '-v', 'error', ...inputGuard(path), '-map', '0', '-f', 'null', '-'];
    for (const program of FFMPEGS) {
      const exit = await spawnFfmpeg({ program, args: decoded, log: createLogger('silent') }).exited;
      assert.notEqual(exit.code, 0);
      assert.match(exit.stderr, new RegExp(`Codec \\(${decoder}\\) not on whitelist`));
    }
  });
}

test('codecs: cover art, subtitles, attachments and timecodes do not cause a valid file to fail', async () => {
  const subtitles = join(dir, 'in.srt');
  await writeFile(subtitles, '1\n00:00:00,000 --> 00:00:01,000\nhello\n');
  const av = await make(dir, ...pictures('64x48', 25, 1), ...tone(1), ...H264, '-c:a', 'aac', 'av.mp4');
  const cover = (codec: string) =>
    make(dir, ...pictures('128x96', 1, 1), '-frames:v', '1', '-c:v', codec, '-f', 'image2', `cover.${codec}`);
  const [png, jpeg, gif, tiff, bmp] = await Promise.all(['png', 'mjpeg', 'gif', 'tiff', 'bmp'].map(cover));
  const attach = (path = '', mimetype = '', index = 0) => [
    ...['-attach', path, `-metadata:s:t:${index}`, `mimetype=${mimetype}`],
    ...[`-metadata:s:t:${index}`, `filename=cover${index}`],
  ];
  const matroska = [
    ...['-i', subtitles, ...['0', '1', '1', '1'].flatMap((input) => ['-map', input])],
    ...['-c:s:0', 'srt', '-c:s:1', 'ass', '-c:s:2', 'webvtt', ...attach(png, 'image/png', 0)],
    ...[...attach(jpeg, 'image/jpeg', 1), ...attach(gif, 'image/gif', 2), ...attach(tiff, 'image/tiff', 3)],
    ...attach(subtitles, 'text/plain', 4),
  ];
  const mp4 = [
    ...[png, jpeg, bmp].flatMap((path = '') => [
      '-f',
      'image2',
      '-c:v',
      path.split('.').at(-1) ?? '',
      '-i',
      path,
    ]),
    ...['-i', subtitles, ...['0', '1', '2', '3', '4'].flatMap((input) => ['-map', input])],
    ...['-c:s', 'mov_text', ...[1, 2, 3].flatMap((index) => [`-disposition:v:${index}`, 'attached_pic'])],
  ];
  for (const [name, args, tracks] of [
    ['extras.mkv', matroska, 'h264,aac,subrip,ass,webvtt,png,mjpeg,gif,tiff'],
    ['extras.mp4', mp4, 'h264,aac,mov_text,png,mjpeg,bmp'],
    ['extras.mov', ['-timecode', '01:00:00:00'], 'h264,aac'],
  ] as const) {
    const path = await make(dir, '-i', av, ...args, '-c:v', 'copy', '-c:a', 'copy', name);
    const show = ['-v', 'error', '-show_entries', 'stream=codec_name', '-of', 'csv=p=0', path];
    const { stdout } = await run('ffprobe', show);
    assert.equal(
      stdout
        .match(/\w+/g)
        ?.filter((codec) => codec !== 'unknown')
        .join(),
      tracks,
    );
    const source = await transcoder.probe(path, AbortSignal.timeout(120_000));
    assert.deepEqual([source.video.codec, source.audio[0]?.codec], ['h264', 'aac'], name);
  }
});

test('codecs: every subtitle decoder is allowed, and every name on the list exists in some ffmpeg', async () => {
  const known = new Set<string>();
  for (const bin of FFMPEGS) {
    const { stdout } = await run(bin, ['-hide_banner', '-decoders'], { maxBuffer: 2 ** 20 });
    for (const [, kind, name = ''] of stdout.matchAll(/^ ([VAS])[.FSXBD]{5} (\w[\w-]*)/gm)) {
      known.add(name);
      if (kind === 'S') assert.ok(OPENED_FOR_SUBTITLES.split(',').includes(name), name);
    }
  }
  // Decoders missing in some distributions.
  const rare = ['libgav1', 'libfdk_aac', 'libopencore_amrnb', 'libopencore_amrwb', 'libspeex'];
  const unknown = FILE_DECODERS.split(',').filter((name) => !known.has(name) && !rare.includes(name));
  assert.deepEqual(unknown, []);
});
