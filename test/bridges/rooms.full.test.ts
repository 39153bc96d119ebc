import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Playout } from '../../src/media/bridges/playout.ts';
import { createRoomPlayer } from '../../src/media/bridges/room-player.ts';
import { runRoom } from '../../src/media/bridges/room-source.ts';
import type { MediaMessage, RoomView } from '../../src/media/contract/index.ts';
import { openFfmpeg } from '../../src/media/ffmpeg/program.ts';
import { createJanusEngine } from '../../src/media/rooms/janus/engine.ts';
import { lackOfJanus, startJanus } from '../../src/media/rooms/janus/process.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { FAKE_DEVICES, launchBrowser, type TestBrowser } from '../harness/browser.ts';
import { until } from '../harness/wait.ts';
import { openStudio, type Studio } from '../rooms/studio.ts';
import { startIngest } from '../rtmp/ingest.ts';
import { startPublisher } from '../rtmp/publisher.ts';

const run = promisify(execFile);
const log = createLogger('silent', { process: 'test' });
const skip = (await lackOfJanus('janus')) ?? false;
const PATIENT = { timeoutMs: 20_000, intervalMs: 100 };
const closers: (() => Promise<unknown>)[] = [];
let dir: string;
let linkFile: string;
let browser: TestBrowser;
let studio: Studio;
before(async () => {
  if (skip !== false) return;
  dir = await mkdtemp(join(tmpdir(), 'room-bridges-'));
  // Or Janus, which has a user of its own, would work elsewhere and leave a folder there.
  await chmod(dir, 0o755);
  linkFile = join(dir, 'janus.json');
  const ports = { first: 21_600, last: 21_799 };
  const janus = startJanus({
    ...{ program: 'janus', folder: join(dir, 'janus'), linkFile, ports, publicIp: undefined, log },
  });
  closers.push(() => janus.stop());
  const engine = createJanusEngine({ linkFile, log });
  closers.push(() => engine.close());
  browser = await launchBrowser(FAKE_DEVICES);
  closers.push(() => browser.close());
  await until(async () => (await engine.health()).ok, { ...PATIENT, message: 'Janus' });
  studio = await openStudio({ browser, engine });
  closers.push(() => studio.close());
});
after(async () => {
  for (const close of closers.toReversed()) await close();
  if (dir !== undefined) await rm(dir, { recursive: true, force: true });
});

const isPicture = ({ type, payload }: MediaMessage) => type === 9 && payload[1] === 1;
const isWhole = ({ payload }: MediaMessage) => payload[0] === 0x17;

/** The messages as a file. */
function flv(messages: readonly MediaMessage[]): Buffer {
  const tags = messages.map(({ type, timestamp, payload }) => {
    const head = Buffer.alloc(11);
    head.writeUInt8(type, 0);
    head.writeUIntBE(payload.length, 1, 3);
    head.writeUIntBE(timestamp & 0xffffff, 4, 3);
    const back = Buffer.alloc(4);
    back.writeUInt32BE(head.length + payload.length);
    return Buffer.concat([head, payload, back]);
  });
  return Buffer.concat([Buffer.from('464c5601050000000900000000', 'hex'), ...tags]);
}

/** The colour in the middle of the last whole picture, and how loud all of it is, in dB. */
async function seenIn(messages: readonly MediaMessage[]) {
  const headers = messages.filter(({ payload }) => payload[1] === 0);
  const path = join(dir, 'seen.flv');
  const last = messages.findLastIndex((one) => isPicture(one) && isWhole(one));
  await writeFile(path, flv([...headers, ...messages.slice(last)]));
  const pixel = [
    '-frames:v',
    '1',
    '-vf',
    'crop=iw/2:ih/2,scale=1:1',
    '-f',
    'rawvideo',
    '-pix_fmt',
    'rgb24',
    '-',
  ];
  const { stdout } = await run('ffmpeg', ['-v', 'error', '-i', path, ...pixel], { encoding: 'buffer' });
  await writeFile(path, flv(messages));
  const { stderr } = await run('ffmpeg', ['-i', path, '-vn', '-af', 'volumedetect', '-f', 'null', '-']);
  return { pixel: stdout, peak: Number(/max_volume: (-?[\d.]+) dB/.exec(stderr)?.[1] ?? -99) };
}

test('a room is one picture and one sound, before anybody comes and over whoever does', {
  skip,
}, async () => {
  const messages: MediaMessage[] = [];
  const view: { now: RoomView | null } = { now: { name: 'Round table', people: [] } };
  const running = runRoom(
    {
      ...{ roomId: studio.ref, layout: 'GRID', view: async () => view.now },
      ...{ ffmpeg: await openFfmpeg('ffmpeg'), linkFile, dir: join(dir, 'names'), log },
    },
    {
      begin: (options) =>
        new Playout({ ...options, out: (message) => messages.push(message), fail: assert.fail }),
      grant: { streamId: 'str_1', maxHeight: 1080, maxFps: 60 },
      signal: new AbortController().signal,
    },
  );
  await until(() => messages.filter(isPicture).length > 5, {
    ...PATIENT,
    message: 'the card of an empty room',
  });
  const ada = await studio.enter('ada');
  await ada.publish('CAMERA', 'MICROPHONE');
  view.now = { name: 'Round table', people: [{ identity: 'ada', name: 'Ada' }] };
  await until(
    async () => {
      const { pixel, peak } = await seenIn(messages);
      const [red = 0, green = 0] = pixel;
      return green > red + 40 && peak > -40;
    },
    { ...PATIENT, timeoutMs: 40_000, message: 'the green of the device, and its beeps' },
  );
  const times = messages.filter(isPicture).map(({ timestamp }) => timestamp);
  assert.ok(
    times.every((time, index) => time > (times[index - 1] ?? -1)),
    'times go on',
  );
  view.now = null;
  await running;
  await ada.leave();
});

test('a stream is seen and heard in a room, until its signal ends', { skip }, async (t) => {
  const ingest = await startIngest(t);
  const encoder = startPublisher({ url: ingest.url('key-a'), width: 320, height: 180, fps: 15 });
  await until(() => ingest.engine.list().length > 0, PATIENT);
  const player = createRoomPlayer({
    ...{ bridgeId: 'brg_1', streamId: 'str_a', roomId: studio.ref, autoRestart: false, linkFile, log },
    ...{ engine: ingest.engine, ffmpeg: await openFfmpeg('ffmpeg') },
    seat: async () => ({ identity: 'brg_1', maxParticipants: 8, muted: { audio: false, video: false } }),
  });
  let isActive = false;
  const playing = player.play({
    onActive: () => {
      isActive = true;
    },
    signal: new AbortController().signal,
  });
  const bob = await studio.enter('bob');
  await bob.sees('brg_1');
  await bob.hears('brg_1');
  assert.ok(isActive);
  await encoder.stop();
  await playing;
});
