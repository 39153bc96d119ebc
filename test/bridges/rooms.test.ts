import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Playout } from '../../src/media/bridges/playout.ts';
import { createRoomPlayer } from '../../src/media/bridges/room-player.ts';
import type { BridgeLayout } from '../../src/media/bridges/room-scene.ts';
import { runRoom } from '../../src/media/bridges/room-source.ts';
import type { MediaMessage, RoomView } from '../../src/media/contract/index.ts';
import { openFfmpeg } from '../../src/media/ffmpeg/program.ts';
import { JanusClient } from '../../src/media/rooms/janus/client.ts';
import { createJanusEngine } from '../../src/media/rooms/janus/engine.ts';
import { readLink } from '../../src/media/rooms/janus/link-file.ts';
import { janusUnavailableReason, startJanus } from '../../src/media/rooms/janus/process.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { launchBrowser, type TestBrowser } from '../harness/browser.ts';
import { waitFor } from '../harness/wait-for.ts';
import { fakeDevices } from '../rooms/fake-devices.ts';
import { type Guest, openStudio, type Studio } from '../rooms/studio.ts';
import { startIngest } from '../rtmp/ingest.ts';
import { startPublisher } from '../rtmp/publisher.ts';

const run = promisify(execFile);
const log = createLogger('silent', { process: 'test' });
const skip = (await janusUnavailableReason('janus')) ?? false;
const PATIENT = { timeoutMs: 20_000, intervalMs: 100 };
const closers: (() => Promise<unknown>)[] = [];
let dir: string;
let linkFile: string;
let browser: TestBrowser;
let studio: Studio;
before(async () => {
  if (skip !== false) return;
  dir = await mkdtemp(join(tmpdir(), 'room-bridges-'));
  // Otherwise Janus, which runs as a separate user, would work elsewhere and leave a folder there.
  await chmod(dir, 0o755);
  linkFile = join(dir, 'janus.json');
  const ports = { first: 21_600, last: 21_799 };
  const janus = startJanus({
    ...{ program: 'janus', folder: join(dir, 'janus'), linkFile, ports, publicIp: undefined, log },
  });
  closers.push(() => janus.stop());
  const engine = createJanusEngine({ linkFile, log });
  closers.push(() => engine.close());
  browser = await launchBrowser();
  closers.push(() => browser.close());
  await waitFor(async () => (await engine.health()).ok, { ...PATIENT, message: 'Janus' });
  const initScript = fakeDevices({ ada: '#a00', bob: '#00a' }, { ada: 440, bob: 660 });
  studio = await openStudio({ browser, engine, page: { initScript } });
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

/** Position in a video frame, in shares of its width and height. */
type Spot = readonly [x: number, y: number];
const MIDDLE: Spot = [0.5, 0.5];
/** Position of the large tile in the speaker layout. */
const LARGE: Spot = [0.4, 0.7];
const BESIDE: Spot = [0.9, 0.1];
const SIDES: readonly Spot[] = [
  [0.05, 0.5],
  [0.95, 0.5],
];

/** Returns the color of the last whole frame at each position. */
async function seenAt(messages: readonly MediaMessage[], spots: readonly Spot[]): Promise<string[]> {
  const headers = messages.filter(({ payload }) => payload[1] === 0);
  const last = messages.findLastIndex((one) => isPicture(one) && isWhole(one));
  const path = join(dir, 'seen.flv');
  await writeFile(path, flv([...headers, ...messages.slice(last)]));
  const [columns, rows] = [80, 45];
  const scaled = ['-frames:v', '1', '-vf', `scale=${columns}:${rows}`];
  const pixels = [...scaled, '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-'];
  const { stdout } = await run('ffmpeg', ['-v', 'error', '-i', path, ...pixels], { encoding: 'buffer' });
  return spots.map(([x, y]) => {
    const at = 3 * (Math.floor(y * rows) * columns + Math.floor(x * columns));
    const [red, blue] = [stdout.readUInt8(at), stdout.readUInt8(at + 2)];
    return red > blue + 80 ? 'red' : blue > red + 80 ? 'blue' : 'none';
  });
}

/** The peak of the last seconds, in dB. */
async function loudness(messages: readonly MediaMessage[]): Promise<number> {
  const sounds = messages.filter(({ type }) => type === 8);
  const path = join(dir, 'heard.flv');
  await writeFile(path, flv([...sounds.filter(({ payload }) => payload[1] === 0), ...sounds.slice(-200)]));
  const { stderr } = await run('ffmpeg', ['-i', path, '-vn', '-af', 'volumedetect', '-f', 'null', '-']);
  return Number(/max_volume: (-?[\d.]+) dB/.exec(stderr)?.[1] ?? -99);
}

/** A bridge of the room. */
async function broadcast(layout: BridgeLayout, view: () => RoomView | null) {
  const messages: MediaMessage[] = [];
  const ended = new AbortController();
  let playout: Playout | null = null;
  const stopPlayout = () => playout?.stop();
  const running = runRoom(
    {
      ...{ roomId: studio.ref, layout, view: async () => view() },
      ...{ ffmpeg: await openFfmpeg('ffmpeg'), linkFile, dir: join(dir, 'names'), log },
    },
    {
      begin(options) {
        playout = new Playout({ ...options, out: (message) => messages.push(message), fail: assert.fail });
        return playout;
      },
      grant: { streamId: 'str_1', maxHeight: 1080, maxFps: 60 },
      signal: ended.signal,
    },
  );
  let failure: unknown = null;
  running.catch((error: unknown) => {
    failure = error;
  });
  const stop = async () => {
    ended.abort();
    await running.finally(stopPlayout);
  };
  closers.push(() => stop().catch(() => {}));
  return {
    messages,
    running,
    stop,
    /** Waits until each spot is so. */
    async shows(expected: readonly (readonly [Spot, string])[], what: string): Promise<void> {
      let seen: string[] = [];
      const message = () => `${what}; seen: ${seen.join(', ')}; ${failure ?? 'it runs'}`;
      await waitFor(
        async () => {
          seen = await seenAt(
            messages,
            expected.map(([spot]) => spot),
          );
          return expected.every(([, colour], index) => seen[index] === colour);
        },
        { ...PATIENT, message },
      );
    },
  };
}

/** Returns the number of RTP streams that Janus forwards from the room. */
async function handedOn(): Promise<number> {
  const link = await readLink(linkFile);
  assert.ok(link !== null);
  const client = await JanusClient.connect(link);
  try {
    const handle = await client.attach({ onEvent() {}, onTrickle() {}, onPeer() {}, onDetached() {} });
    const { data } = await handle.send({ request: 'listforwarders', room: studio.ref });
    return [...JSON.stringify(data).matchAll(/"stream_id"/g)].length;
  } finally {
    client.close();
  }
}

const guests = new Map<string, Guest>();
/** Enters the room, unless an earlier test has done so. */
async function come(identity: string): Promise<Guest> {
  const there = guests.get(identity);
  if (there !== undefined) return there;
  const guest = await studio.enter(identity);
  guests.set(identity, guest);
  await guest.publish('CAMERA', 'MICROPHONE');
  return guest;
}

const say = (guest: Guest, isOn: boolean) => guest.page.evaluate(`window.say(${isOn})`);
const ADA = { identity: 'ada', name: 'Ada' };
const BOB = { identity: 'bob', name: 'Bob' };

test('a room broadcast is one continuous video and audio, from an empty room through all joins and leaves', {
  skip,
}, async () => {
  let view: RoomView | null = { name: 'Round table', people: [] };
  const { messages, running, shows } = await broadcast('GRID', () => view);
  await waitFor(() => messages.filter(isPicture).length > 5, {
    ...PATIENT,
    message: 'the card of an empty room',
  });
  const ada = await come('ada');
  await say(ada, true);
  view = { name: 'Round table', people: [ADA] };
  await shows([[MIDDLE, 'red']], 'the camera of Ada');
  await waitFor(async () => (await loudness(messages)) > -40, { ...PATIENT, message: 'the voice of Ada' });
  const times = messages.filter(isPicture).map(({ timestamp }) => timestamp);
  assert.ok(
    times.every((time, index) => time > (times[index - 1] ?? -1)),
    'times go on',
  );
  view = null;
  await running;
});

test('participants who joined before the broadcast are shown, arranged by active speaker', {
  skip,
}, async () => {
  const [ada, bob] = [await come('ada'), await come('bob')];
  await say(ada, false);
  await say(bob, true);
  await bob.sees('ada');
  await ada.hears('bob');
  const both = { name: 'Round table', people: [ADA, BOB] };
  const speaker = await broadcast('SPEAKER', () => both);
  await speaker.shows(
    [
      [LARGE, 'blue'],
      [BESIDE, 'red'],
    ],
    'Bob, who speaks, large, and Ada beside',
  );
  await say(bob, false);
  await say(ada, true);
  await speaker.shows(
    [
      [LARGE, 'red'],
      [BESIDE, 'blue'],
    ],
    'Ada, who speaks now, large',
  );
  await speaker.stop();
  const single = await broadcast('SINGLE', () => both);
  await single.shows(
    SIDES.map((spot) => [spot, 'red']),
    'Ada alone',
  );
  assert.ok((await handedOn()) > 0);
  await single.stop();
  assert.equal(await handedOn(), 0, 'nobody takes anything any more');
  await ada.leave();
});

test('a stream is seen and heard in a room and the room in a broadcast, across a kill of Janus', {
  skip,
}, async (t) => {
  const ingest = await startIngest(t);
  const encoder = startPublisher({ url: ingest.url('key-a'), width: 320, height: 180, fps: 15 });
  await waitFor(() => ingest.engine.list().length > 0, PATIENT);
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
  const bob = await come('bob');
  await bob.sees('brg_1');
  await bob.hears('brg_1');
  assert.ok(isActive);
  const view = { name: 'Round table', people: [BOB] };
  const { shows, stop } = await broadcast('GRID', () => view);
  await shows([[MIDDLE, 'blue']], 'the camera of Bob');

  process.kill((await readLink(linkFile))?.pid ?? 0, 'SIGKILL');
  await waitFor(() => bob.told.some(({ state }) => state === 'up'), { ...PATIENT, message: 'Janus again' });
  // A changed color proves that it is not an old frame.
  await bob.page.evaluate(`window.paint('#a00')`);
  await shows([[MIDDLE, 'red']], 'the camera of Bob again');
  await bob.sees('brg_1');
  await bob.hears('brg_1');
  await stop();
  await encoder.stop();
  await playing;
});
