import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { testGuard } from '../../../test/transcode/sources.ts';
import { createLogger } from '../../platform/logger.ts';
import { MediaFileError } from '../contract/index.ts';
import { createRecordingJoiner } from './join.ts';

const run = promisify(execFile);
const joiner = createRecordingJoiner({
  ffmpeg: 'ffmpeg',
  ffprobe: 'ffprobe',
  guard: testGuard,
  threads: 1,
  log: createLogger('silent'),
});
let dir: string;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), "recording-join-it's-"));
});
after(() => rm(dir, { recursive: true, force: true }));

interface PartOptions {
  seconds: number;
  size?: string;
  rate?: number;
  audio?: '48000' | '44100' | 'none';
}

/** A part as a recorder writes it. */
async function part(name: string, options: PartOptions): Promise<string> {
  const { seconds, size = '160x90', rate = 15, audio = '48000' } = options;
  const path = join(dir, `${name}.mp4`);
  await run('ffmpeg', [
    ...['-v', 'error', '-y', '-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=${rate}`],
    ...(audio === 'none'
      ? []
      : ['-f', 'lavfi', '-i', `sine=sample_rate=${audio}`, '-c:a', 'aac', '-ac', '2']),
    ...['-t', String(seconds), '-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-g', '15'],
    ...['-movflags', '+frag_keyframe+empty_moov+default_base_moof', '-f', 'mp4', path],
  ]);
  return path;
}

async function joined(parts: string[], maxSec = 43_200) {
  const work = await mkdtemp(join(dir, 'work-'));
  const path = await joiner.join({ parts, dir: work, maxSec, signal: new AbortController().signal });
  const show = ['-show_entries', 'stream=codec_type,width,height,nb_read_frames,duration,sample_rate'];
  const { stdout, stderr } = await run('ffprobe', [
    '-v',
    'error',
    '-count_frames',
    ...show,
    '-of',
    'json',
    path,
  ]);
  assert.equal(stderr, '', 'it decodes without an error');
  const { streams } = JSON.parse(stdout);
  const of = (type: string) => streams.find((stream: { codec_type: string }) => stream.codec_type === type);
  return { path, video: of('video'), audio: of('audio') };
}

function close(actual: string, expected: number, tolerance = 0.12): void {
  assert.ok(Math.abs(Number(actual) - expected) <= tolerance, `${actual} s, expected ${expected} s`);
}

test('parts of one encoder are joined frame for frame, without being encoded', async () => {
  const parts = [
    await part('a', { seconds: 2 }),
    await part('b', { seconds: 3 }),
    await part('c', { seconds: 1 }),
  ];
  const { video, audio, path } = await joined(parts);
  assert.equal(Number(video.nb_read_frames), 15 * 6);
  close(video.duration, 6);
  close(audio.duration, 6);
  const { stdout } = await run('ffprobe', [
    ...['-v', 'error', '-select_streams', 'v', '-show_entries', 'packet=pts_time', '-of', 'csv=p=0', path],
  ]);
  const times = stdout.trim().split(/\s+/).map(Number);
  const steps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  assert.ok(
    steps.every((step) => step > 0.03 && step < 0.2),
    `no gap and no overlap: ${Math.max(...steps)}`,
  );
});

test('other settings from the encoder still make one video, like its first part', async () => {
  const parts = [
    await part('wide', { seconds: 1 }),
    await part('tall', { seconds: 1, size: '180x320', rate: 30, audio: '44100' }),
    await part('mute', { seconds: 1, audio: 'none' }),
  ];
  const { video, audio } = await joined(parts);
  assert.deepEqual([video.width, video.height, audio.sample_rate], [160, 90, '48000']);
  close(video.duration, 3, 0.2);
  close(audio.duration, 3, 0.2);
  assert.ok(Math.abs(Number(video.nb_read_frames) - 45) <= 2, `${video.nb_read_frames} frames`);
});

test('parts that differ only in audio keep their video unchanged', async () => {
  const parts = [await part('silent', { seconds: 1, audio: 'none' }), await part('loud', { seconds: 1 })];
  const { video, audio } = await joined(parts);
  assert.equal(Number(video.nb_read_frames), 30);
  close(audio.duration, 2, 0.2);
});

test('a part that cannot be read is left out; none at all is the recording’s end', async () => {
  const broken = join(dir, 'broken.mp4');
  await writeFile(broken, 'not a video');
  const { video } = await joined([broken, await part('good', { seconds: 1 })]);
  assert.equal(Number(video.nb_read_frames), 15);
  await assert.rejects(
    joined([broken]),
    (error) => error instanceof MediaFileError && error.code === 'CORRUPT_INPUT',
  );
});

test('it is no longer than it may be', async () => {
  const { video } = await joined([await part('long', { seconds: 3 })], 2);
  close(video.duration, 2, 0.2);
});

test('an abort ends it', async () => {
  const control = new AbortController();
  const parts = [await part('x', { seconds: 1 })];
  const joining = joiner.join({ parts, dir, maxSec: 60, signal: control.signal });
  control.abort(new Error('enough'));
  await assert.rejects(joining, /enough/);
});

test('a program that prints without end is ended, and its part left out', async () => {
  const ffprobe = join(dir, 'endless');
  await writeFile(ffprobe, '#!/bin/sh\nexec yes \'{"streams": []}\'\n');
  await chmod(ffprobe, 0o755);
  const log = createLogger('silent');
  const deceived = createRecordingJoiner({ ffmpeg: 'ffmpeg', ffprobe, guard: testGuard, threads: 1, log });
  const parts = [await part('y', { seconds: 1 })];
  await assert.rejects(
    deceived.join({ parts, dir, maxSec: 60, signal: new AbortController().signal }),
    (error) => error instanceof MediaFileError && error.code === 'CORRUPT_INPUT',
  );
});
