import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import type {
  DesiredRoomRecordings,
  RecordedRoomTrack,
  RoomLayout,
  RoomRecordingPort,
} from '../../src/media/contract/index.ts';
import { createRoomComposer } from '../../src/media/rooms/compose/composer.ts';
import type { RoomEngine } from '../../src/media/rooms/engine.ts';
import { createJanusEngine } from '../../src/media/rooms/janus/engine.ts';
import { readLink } from '../../src/media/rooms/janus/link-file.ts';
import { startJanus } from '../../src/media/rooms/janus/process.ts';
import { createJanusRecorder, type JanusRecorder } from '../../src/media/rooms/janus/recorder.ts';
import { createLivekitMirror, type RoomMirror } from '../../src/media/rooms/livekit/mirror.ts';
import { livekitOf } from '../../src/media/rooms/open.ts';
import { createDiskStore } from '../../src/media/storage/disk.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { FAKE_DEVICES, launchBrowser, type TestBrowser } from '../harness/browser.ts';
import { waitFor } from '../harness/wait-for.ts';
import { testGuard } from '../transcode/sources.ts';
import { fakeDevices } from './fake-devices.ts';
import { onJanusNetwork, openLivekit } from './livekit.ts';
import { beepsIn } from './measure.ts';
import { openStudio } from './studio.ts';

const run = promisify(execFile);
const log = createLogger('silent', { process: 'test' });
const HAS_ROOM = { isThere: async () => true };
const VOICES = { ada: 500, bob: 2500 };
const closers: (() => Promise<unknown>)[] = [];
let dir: string;
let browser: TestBrowser;

/**
 * Records two successive participants of a room, composes both layouts, and checks the results.
 *
 * @param engine the room engine; Janus records in both cases.
 */
export async function tryRecording(t: TestContext, engine: 'janus' | 'livekit'): Promise<void> {
  dir = await mkdtemp(join(tmpdir(), 'room-recording-'));
  // Otherwise Janus, which runs as a separate user, would work elsewhere and leave a folder there.
  await chmod(dir, 0o755);
  browser = await launchBrowser(FAKE_DEVICES);
  t.after(async () => {
    for (const close of closers.toReversed()) await close();
    await browser.close();
    await rm(dir, { recursive: true, force: true });
  });
  await record(await (engine === 'janus' ? openJanus() : openBoth()));
}

async function runJanus(): Promise<string> {
  const linkFile = join(dir, 'janus.json');
  const ports = { first: 21_400, last: 21_599 };
  const janus = startJanus({
    ...{ program: 'janus', folder: join(dir, 'janus'), linkFile, ports, publicIp: undefined, log },
  });
  closers.push(() => janus.stop());
  await waitFor(() => readLink(linkFile), { message: 'Janus', timeoutMs: 10_000 });
  return linkFile;
}

/** Opens a recorder for the room in the link file. */
function openRecorder(linkFile: string, mirror: () => RoomMirror | null) {
  const store = createDiskStore(join(dir, 'store'));
  const wanted: DesiredRoomRecordings = { open: [], ended: [] };
  const sizes: number[] = [];
  const stored: { key: string; sizeBytes: number }[] = [];
  const port: RoomRecordingPort = {
    async wanted(_, found) {
      sizes.push([...found.values()].reduce((sum, bytes) => sum + bytes, 0));
      return structuredClone(wanted);
    },
    refused: async () => {},
    isPresent: async () => true,
    prefixOf: async (id) => `w/ws/room-rec/${id}/`,
    async collected(_, files) {
      stored.push(...files);
    },
  };
  const options = { port, store, disk: HAS_ROOM, diskOf: () => HAS_ROOM, nodeId: 'nod_a', linkFile, log };
  const recorder = () => {
    const made = createJanusRecorder({ ...options, mirror: mirror() });
    closers.push(() => made.stop());
    return made;
  };
  return { store, wanted, sizes, stored, recorder };
}

const grown = (recorder: JanusRecorder, sizes: readonly number[], bytes: number) => {
  const before = sizes.at(-1) ?? 0;
  return waitFor(
    async () => {
      await recorder.sync();
      return (sizes.at(-1) ?? 0) > before + bytes;
    },
    { message: 'more of the room to be written', timeoutMs: 15_000 },
  );
};

interface Bench {
  engine: RoomEngine;
  linkFile: string;
  /** Returns a mirror for each recorder. */
  mirror(): RoomMirror | null;
}

async function openJanus(): Promise<Bench> {
  const linkFile = await runJanus();
  const engine = createJanusEngine({ linkFile, log });
  closers.push(() => engine.close());
  await waitFor(async () => (await engine.health()).ok, { message: 'Janus', timeoutMs: 10_000 });
  return { engine, linkFile, mirror: () => null };
}

async function openBoth(): Promise<Bench> {
  const linkFile = await runJanus();
  const { engine, server, close } = await openLivekit(onJanusNetwork());
  closers.push(close);
  const livekit = livekitOf(loadConfig(server.env));
  assert.ok(livekit !== null);
  const isPresent = async () => true;
  const mirror = () => createLivekitMirror({ server: livekit, linkFile, isPresent, log });
  return { engine, linkFile, mirror };
}

async function record({ engine, linkFile, mirror }: Bench): Promise<void> {
  const { store, wanted, sizes, stored, recorder } = openRecorder(linkFile, mirror);
  const initScript = fakeDevices({ ada: '#a00', bob: '#00a' }, VOICES);
  const studio = await openStudio({ browser, engine, page: { initScript } });
  closers.push(() => studio.close());
  const ada = await studio.enter('ada');
  await ada.publish('CAMERA', 'MICROPHONE');
  await ada.page.evaluate('say(true)');
  wanted.open = [{ recordingId: 'rec_1', roomId: studio.ref }];
  const first = recorder();
  await first.sync();
  await grown(first, sizes, 10_000);
  // Janus keeps running while its recorder is down; media of other engines reach Janus through the recorder.
  const isAnew = engine.name === 'janus';
  if (isAnew) await first.stop();
  const bob = await studio.enter('bob');
  await bob.publish('CAMERA', 'MICROPHONE');
  await ada.sees('bob');
  await ada.page.waitForFunction('spoken() > 4');
  await Promise.all([ada.page.evaluate('say(false)'), bob.page.evaluate('say(true)')]);
  const second = isAnew ? recorder() : first;
  await second.sync();
  await grown(second, sizes, 10_000);
  await bob.page.waitForFunction('spoken() > 3.5');
  Object.assign(wanted, { open: [], ended: ['rec_1'] });
  await waitFor(
    async () => {
      await second.sync();
      return stored.length > 0;
    },
    { message: 'the tracks to be stored', timeoutMs: 10_000 },
  );
  // Sending and rendering video uses most of the processor.
  await Promise.all([ada.leave(), bob.leave()]);
  const composer = createRoomComposer({
    ...{ ffmpeg: 'ffmpeg', ffprobe: 'ffprobe', threads: 2, log },
    guard: testGuard,
  });
  const tracks: RecordedRoomTrack[] = [];
  for (const { key } of stored) {
    const path = store.localPath(key) ?? '';
    const found = await composer.look(path);
    if (found !== null) tracks.push({ ...found, name: null, path });
  }
  const names = new Set(tracks.map(({ identity, source }) => `${identity} ${source}`));
  assert.deepEqual([...names].toSorted(), ['ada CAMERA', 'ada MICROPHONE', 'bob CAMERA', 'bob MICROPHONE']);
  const composed = async (layout: RoomLayout) => {
    const out = await mkdtemp(join(dir, `${layout}-`));
    const { signal } = new AbortController();
    return composer.compose({ tracks, dir: out, layout, height: 360, maxSec: 60, signal });
  };
  const video = await composed('GRID');
  assert.ok(video.durationSec > 6, `${video.durationSec} s`);
  const late = (await colours(video.path, LEFT)).length - FPS;
  // Both tiles show their video, and both voices are heard.
  assert.deepEqual(
    [(await colours(video.path, LEFT))[late], (await colours(video.path, RIGHT))[late]],
    ['red', 'blue'],
  );
  const speaker = await composed('SPEAKER');
  // But for moments no media, at the beginning and the end.
  const seen = (await colours(speaker.path, LEFT)).map((colour, index) => ({ colour, sec: index / FPS }));
  const large = seen.filter(({ colour }) => colour !== 'none');
  const changes = large.filter(({ colour }, index) => colour !== large[index - 1]?.colour);
  // The last speaker may be large again at the end, and there is no flicker.
  assert.ok(changes.length <= 3, JSON.stringify(changes));
  assert.deepEqual(
    changes.slice(0, 2).map(({ colour }) => colour),
    ['red', 'blue'],
    JSON.stringify(changes),
  );
  // The speaker is active from their first word on.
  const [begun] = await beepsIn(speaker.path, VOICES.bob);
  const changed = changes[1]?.sec ?? 0;
  assert.ok(Math.abs((begun ?? 0) - changed) <= 0.6, `bob speaks at ${begun} and is large at ${changed}`);
}

const FPS = 30;
const LEFT = '40:40:100:150';
const RIGHT = '40:40:500:150';

/** Returns the color of a part of the video, frame by frame. */
async function colours(path: string, box: string): Promise<string[]> {
  const filter = ['-vf', `crop=${box},scale=1:1`, '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-'];
  const { stdout } = await run('ffmpeg', ['-v', 'error', '-i', path, ...filter], { encoding: 'buffer' });
  return Array.from({ length: stdout.length / 3 }, (_, index) => {
    const [red = 0, green = 0, blue = 0] = stdout.subarray(3 * index);
    if (red > 2 * Math.max(green, blue)) return 'red';
    return blue > 2 * Math.max(green, red) ? 'blue' : 'none';
  });
}
