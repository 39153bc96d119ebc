import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { assertNear, type Made, segments, transcode } from '../../../test/transcode/result.ts';
import { H264, make, packetTimes, pictures, testTranscoder } from '../../../test/transcode/sources.ts';

const run = promisify(execFile);
const AAC = ['-c:a', 'aac'];
let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sync-'));
});
after(() => rm(dir, { recursive: true, force: true }));

/** Returns the times at which the video turns white and the audio starts, in seconds. */
async function flashAndBeep(made: Made): Promise<{ flashSec: number; beepSec: number }> {
  const name = made.renditions[0]?.name ?? '';
  // Raw time in the file, that of its first packet: not all players read edit lists.
  const [firstSec = Number.NaN] = await packetTimes(made.path('audio'), 'a:0');
  const audio = join(made.outDir, 'audio.mp4');
  const names = [
    'init.mp4',
    ...(await readdir(join(made.outDir, 'audio'))).filter((name) => /^s_/.test(name)),
  ];
  const parts = await Promise.all(names.map((name) => readFile(join(made.outDir, 'audio', name))));
  await writeFile(audio, Buffer.concat(parts));
  const { stdout: seen, stderr: heard } = await run('ffmpeg', [
    ...['-nostdin', '-hide_banner', '-i', made.path(name), '-ignore_editlist', '1', '-i', audio],
    ...['-map', '0:v', '-vf', "select='gt(scene,0.3)',metadata=print:file=-", '-f', 'null', '-'],
    ...['-map', '1:a', '-af', 'silencedetect=n=-30dB:d=0.2', '-f', 'null', '-'],
  ]);
  return {
    flashSec: Number(/pts_time:([\d.]+)/.exec(seen)?.[1]),
    beepSec: Number(/silence_end: ([\d.]+)/.exec(heard)?.[1]) + firstSec,
  };
}

/** Returns arguments for a flash and a beep at 1.2 s; each track may begin later than the file. */
function flashing(videoLate: number, soundLate: number): string[] {
  const flash = `color=black:s=160x90:r=25:d=${2.4 - videoLate},drawbox=c=white:t=fill:enable='gte(t,${1.2 - videoLate})'`;
  const beep = `aevalsrc='gte(t,${1.2 - soundLate})*sin(6000*t)':s=48000:d=${2.4 - soundLate}`;
  return [
    ...['-itsoffset', String(videoLate), '-f', 'lavfi', '-i', flash],
    ...['-itsoffset', String(soundLate), '-f', 'lavfi', '-i', beep],
  ];
}

const GAP = ['-vf', "select='not(between(n,10,23))'", '-fps_mode', 'vfr'];
const REORDERED = ['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p'];
for (const [name, videoLate, soundLate, codec, container] of [
  ['together, encoded', 0, 0, ['-c:v', 'mpeg4', ...AAC], 'mp4'],
  ['pictures out of order, sound by an edit list', 0, 0, [...REORDERED, ...AAC], 'mp4'],
  ['a transport stream', 0, 0, [...REORDERED, ...AAC], 'ts'],
  ['another codec of sound', 0, 0, [...H264, '-c:a', 'libopus', '-ar', '48000'], 'mp4'],
  ['sound a little late, copied', 0, 0.012, [...H264, ...AAC], 'mp4'],
  ['sound late, copied pictures', 0, 0.6, [...H264, ...AAC], 'mkv'],
  ['pictures late', 0.6, 0, [...H264, ...AAC], 'mkv'],
  ['pictures a little late', 0.12, 0, [...H264, ...AAC], 'mkv'],
  ['pictures late in a transport stream', 0.6, 0, [...REORDERED, ...AAC], 'ts'],
  ['half a second without pictures', 0, 0, [...GAP, '-c:v', 'mpeg4', ...AAC], 'mkv'],
  ['Theora and Vorbis', 0, 0, ['-c:v', 'libtheora', '-q:v', '9', '-c:a', 'libvorbis'], 'ogv'],
  ['from five seconds on', 0, 0, [...REORDERED, ...AAC, '-output_ts_offset', '5'], 'mkv'],
] as const) {
  test(`sync: ${name}`, async () => {
    const file = `${name.replace(/\W/g, '-')}.${container}`;
    const made = await transcode(dir, await make(dir, ...flashing(videoLate, soundLate), ...codec, file));
    const { flashSec, beepSec } = await flashAndBeep(made);
    assertNear(beepSec, flashSec, 0.005, 'the beep');
  });
}

test('sync: all rungs are cut at the same times, to the last of two minutes at 29.97 fps', async () => {
  const rate = 30_000 / 1001;
  const args = [...pictures('64x36', '30000/1001', 120), '-c:v', 'mpeg4', '-q:v', '20', 'ntsc.mkv'];
  const input = await make(dir, ...args);
  const outDir = await mkdtemp(join(dir, 'out-'));
  const transcoder = testTranscoder();
  const signal = AbortSignal.timeout(30_000);
  const source = await transcoder.probe(input, signal);
  assert.equal(source.video.frameRate, rate);
  const rungs = [1, 2, 3].map((divisor) => {
    const name = `${divisor}p`;
    return {
      name,
      codec: 'H264' as const,
      width: 64,
      height: 36,
      frameRate: rate / divisor,
      bitrate: 100_000,
      isCopy: false,
    };
  });
  const run = { input, source, outDir, signal };
  await transcoder.encode({ ...run, rungs, audio: [], alignToSource: false });
  const path = (name: string) => join(outDir, name, 'index.m3u8');
  const reference = await segments(path('1p'));
  for (const sec of reference.slice(0, -1)) assertNear(sec, 6.006, 0.0001, 'a segment');
  const frames: number[] = [];
  for (const { name, frameRate } of rungs) {
    const own = await segments(path(name));
    assert.deepEqual(own.slice(0, -1), reference.slice(0, -1));
    assertNear(own.at(-1) ?? 0, reference.at(-1) ?? 0, 1 / frameRate, 'the last segment');
    frames.push((await packetTimes(path(name))).length);
  }
  assert.deepEqual(frames, [3597, 1799, 1199]);
});

test('sync: rungs of 144 fps are cut alike, also by different runs', async () => {
  const input = await make(dir, ...pictures('64x480', 144, 7), '-c:v', 'mpeg4', '-q:v', '25', 'fast.mp4');
  const transcoder = testTranscoder();
  const signal = AbortSignal.timeout(30_000);
  const source = await transcoder.probe(input, signal);
  const names = ['1p', '2p', '3p'];
  const rungs = [2, 3, 5].map((divisor, index) => {
    const name = names[index] ?? '';
    return {
      name,
      codec: 'H264' as const,
      width: 64,
      height: 36,
      frameRate: 144 / divisor,
      bitrate: 100_000,
      isCopy: false,
    };
  });
  const outDir = await mkdtemp(join(dir, 'out-'));
  const run = { input, source, outDir, signal, audio: [], alignToSource: false };
  await transcoder.encode({ ...run, rungs: rungs.slice(2) });
  await transcoder.encode({ ...run, rungs: rungs.slice(0, 2) });
  const cuts = await Promise.all(names.map((name) => segments(join(outDir, name, 'index.m3u8'))));
  assert.deepEqual(
    cuts.map(([first]) => first),
    [6.25, 6.25, 6.25],
  );
});
