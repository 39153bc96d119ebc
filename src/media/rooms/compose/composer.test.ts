import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { beepsIn, flashesIn } from '../../../../test/rooms/measure.ts';
import { beeps, type CodedFrame, flashes, writeMjr } from '../../../../test/rooms/mjr-files.ts';
import { testGuard } from '../../../../test/transcode/sources.ts';
import { MediaFileError, type RecordedRoomTrack, type RoomLayout } from '../../contract/index.ts';
import { createRoomComposer } from './composer.ts';

const run = promisify(execFile);
const START = 1_790_000_000_000;
/** Boxes in the middle of the left and right half of the video, and between two tiles. */
const LEFT = '20:20:140:170';
const RIGHT = '20:20:460:170';
const MIDDLE = '20:20:310:170';

let dir: string;
const composer = createRoomComposer({
  ffmpeg: 'ffmpeg',
  ffprobe: 'ffprobe',
  guard: testGuard,
  threads: 2,
  log: pino({ level: 'silent' }),
});
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'room-composer-'));
});
after(() => rm(dir, { recursive: true }));

async function composed(tracks: RecordedRoomTrack[], layout: RoomLayout = 'GRID') {
  const out = await mkdtemp(join(dir, 'run-'));
  const { signal } = new AbortController();
  return composer.compose({ tracks, dir: out, layout, height: 360, maxSec: 60, signal });
}

function jitter(leastMs: number, mostMs: number): () => number {
  let state = leastMs;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return leastMs + (state / 0x80000000) ** 4 * (mostMs - leastMs);
  };
}

function assertInSync(flashes: readonly number[], beeps: readonly number[]): void {
  for (const sec of flashes) {
    const nearest = Math.min(...beeps.map((one) => Math.abs(one - sec)));
    assert.ok(nearest <= 0.08, `flash at ${sec}, beeps at ${beeps.join(', ')}`);
  }
}

test('media of two participants is in sync from beginning to end, despite loss, drift and resolution changes', async () => {
  const path = (name: string) => join(dir, name);
  const [picture, smaller, sound] = await Promise.all([
    flashes(path('ada.ivf'), { seconds: 4, colour: 'red' }),
    flashes(path('ada-2.ivf'), { seconds: 5, colour: 'red', size: '160x90' }),
    beeps(path('ada.ogg'), { seconds: 9 }),
  ]);
  const [late, lateSound] = await Promise.all([
    flashes(path('bob.ivf'), { seconds: 3, colour: 'blue', size: '320x240' }),
    beeps(path('bob.ogg'), { seconds: 3, frequency: 3000 }),
  ]);
  // The sender lowers its resolution in the middle.
  const frames: CodedFrame[] = [...picture, ...smaller.map(({ ms, data }) => ({ ms: ms + 4000, data }))];
  const way = { startMs: START, driftPpm: 120 };
  await writeMjr(path('ada-camera.mjr'), 'vp8', frames, { ...way, delayMs: jitter(35, 200) });
  const isLost = (index: number) => index % 40 === 17;
  await writeMjr(path('ada-microphone.mjr'), 'opus', sound, { ...way, delayMs: jitter(25, 150), isLost });
  const later = { startMs: START + 3500 };
  await writeMjr(path('bob-camera.mjr'), 'vp8', late, { ...later, delayMs: jitter(30, 90) });
  await writeMjr(path('bob-microphone.mjr'), 'opus', lateSound, { ...later, delayMs: jitter(30, 90) });
  await writeFile(path('nothing.mjr'), 'nothing');
  const ada = { identity: 'ada', name: "Ada: %{pts} 'x',[v]" };
  const bob = { identity: 'bob', name: 'Боб' };
  const video = await composed([
    { ...ada, source: 'CAMERA', path: path('ada-camera.mjr') },
    { ...ada, source: 'MICROPHONE', path: path('ada-microphone.mjr') },
    { ...bob, source: 'CAMERA', path: path('bob-camera.mjr') },
    { ...bob, source: 'MICROPHONE', path: path('bob-microphone.mjr') },
    { identity: 'eve', name: null, source: 'CAMERA', path: path('nothing.mjr') },
  ]);
  assert.ok(Math.abs(video.durationSec - 9) < 0.15, `${video.durationSec} s`);
  const { stdout } = await run('ffprobe', [
    ...['-v', 'error', '-show_entries', 'stream=codec_name,width,height,nb_frames,duration'],
    ...['-of', 'csv=p=0', video.path],
  ]);
  assert.match(stdout, /^h264,640,360,[\d.]+,27\d\naac,/);
  const [left, right, middle] = await Promise.all([
    flashesIn(video.path, LEFT),
    flashesIn(video.path, RIGHT),
    flashesIn(video.path, MIDDLE),
  ]);
  const [low, high] = [await beepsIn(video.path, 1000), await beepsIn(video.path, 3000)];
  // The first beep coincides with the start of the audio.
  assertInSync(left.slice(1), low);
  assert.deepEqual(left.map(Math.round), [0, 2, 4, 6, 8]);
  const bobs = [3.5, 5.5].map((sec) => sec - (video.startedMs - START) / 1000);
  const seen = right.filter((sec) => !left.some((one) => Math.abs(one - sec) < 0.1));
  for (const [index, sec] of bobs.entries()) {
    assert.ok(Math.abs((seen[index] ?? 0) - sec) <= 0.08, `sent at ${sec}, seen of ${seen.join(', ')}`);
    assert.ok(Math.abs((high[index] ?? 0) - sec) <= 0.08, `sent at ${sec}, heard of ${high.join(', ')}`);
  }
  // A single participant fills the video; two share it.
  assert.deepEqual(middle.map(Math.round), [0, 2, 8]);
});

test('a shared screen and the active speaker are large, and a camera that is off leaves the name', async () => {
  const path = (name: string) => join(dir, name);
  const [red, blue, white] = await Promise.all([
    flashes(path('red.ivf'), { seconds: 5, colour: 'red', everySec: 100 }),
    flashes(path('blue.ivf'), { seconds: 2, colour: 'blue', everySec: 100 }),
    flashes(path('white.ivf'), { seconds: 1, colour: 'green', everySec: 100 }),
  ]);
  const sound = await beeps(path('voice.ogg'), { seconds: 5 });
  // One track has the level extension; the loudness of the other is measured.
  const extension = {
    name: 'urn:ietf:params:rtp-hdrext:ssrc-audio-level',
    value: (ms: number) => (ms >= 2000 ? 20 : 127),
  };
  const words = await beeps(path('words.ogg'), { seconds: 5, everySec: 100, beepSec: 2 });
  await writeMjr(path('red.mjr'), 'vp8', red, { startMs: START });
  await writeMjr(path('blue.mjr'), 'vp8', blue, { startMs: START });
  await writeMjr(path('screen.mjr'), 'vp8', white, { startMs: START + 4000 });
  await writeMjr(path('a.mjr'), 'opus', words, { startMs: START });
  await writeMjr(path('b.mjr'), 'opus', sound, { startMs: START, extension });
  const [ada, bob] = [
    { identity: 'ada', name: 'Ada' },
    { identity: 'bob', name: 'Bob' },
  ];
  const video = await composed(
    [
      { ...ada, source: 'CAMERA', path: path('red.mjr') },
      { ...ada, source: 'MICROPHONE', path: path('a.mjr') },
      { ...bob, source: 'CAMERA', path: path('blue.mjr') },
      { ...bob, source: 'MICROPHONE', path: path('b.mjr') },
      { ...bob, source: 'SCREEN', path: path('screen.mjr') },
    ],
    'SPEAKER',
  );
  const colours = [];
  for (const sec of [1.5, 3.6, 4.5]) colours.push(await colourAt(video.path, sec, '4:4:250:150'));
  assert.deepEqual(colours, ['red', 'grey', 'green']);
  assert.equal(await colourAt(video.path, 3.6, '4:4:575:30'), 'red');
});

async function colourAt(path: string, sec: number, box: string): Promise<string> {
  const { stdout } = await run(
    'ffmpeg',
    [
      ...['-v', 'error', '-ss', String(sec), '-i', path, '-frames:v', '1', '-vf', `crop=${box},scale=1:1`],
      ...['-f', 'rawvideo', '-pix_fmt', 'rgb24', '-'],
    ],
    { encoding: 'buffer' },
  );
  const [red = 0, green = 0, blue = 0] = stdout;
  if (Math.max(red, green, blue) - Math.min(red, green, blue) < 40) return 'grey';
  if (red > green && red > blue) return 'red';
  return green > blue ? 'green' : 'blue';
}

test('a room without a readable track fails with an error', async () => {
  const path = join(dir, 'empty.mjr');
  await writeFile(path, '');
  await assert.rejects(
    composed([{ identity: 'ada', name: null, source: 'CAMERA', path }]),
    (error) => error instanceof MediaFileError && error.code === 'CORRUPT_INPUT',
  );
});

test('a participant without video is heard for as long as they spoke', async () => {
  const path = join(dir, 'only.mjr');
  await writeMjr(path, 'opus', await beeps(join(dir, 'only.ogg'), { seconds: 3 }), { startMs: START });
  await mkdir(join(dir, 'only'), { recursive: true });
  const video = await composed([{ identity: 'ada', name: 'Ada', source: 'MICROPHONE', path }]);
  assert.ok(Math.abs(video.durationSec - 3) < 0.1);
  assert.equal((await beepsIn(video.path)).length >= 1, true);
});
