import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../src/kernel/clock.ts';
import { InvalidSignalError, type RoomEngine, type RoomEngineEvent } from '../../src/media/rooms/engine.ts';
import { JanusClient } from '../../src/media/rooms/janus/client.ts';
import { type JanusLink, readLink } from '../../src/media/rooms/janus/link-file.ts';
import {
  type JanusProcess,
  janusUnavailableReason,
  startJanus,
} from '../../src/media/rooms/janus/process.ts';
import { loadRoomEngine } from '../../src/media/rooms/open.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { FAKE_DEVICES, launchBrowser, type TestBrowser } from '../harness/browser.ts';
import { waitFor } from '../harness/wait-for.ts';
import { livekitUnavailableReason, openLivekit } from './livekit.ts';
import { openStudio, type Studio } from './studio.ts';
import { openTraps } from './udp-canaries.ts';

const log = createLogger('silent', { process: 'test' });
const PORTS = { first: 21_000, last: 21_199 };
const lack = await janusUnavailableReason('janus');
let browser: TestBrowser;
before(async () => {
  browser = await launchBrowser(FAKE_DEVICES);
});
after(() => browser.close());

/** Engine under test, with its cleanup. */
interface Bench {
  engine: RoomEngine;
  close(): Promise<void>;
}

interface JanusBench extends Bench {
  folder: string;
  process: JanusProcess;
  link(): Promise<JanusLink>;
}

const openEngine = async (name: 'janus' | 'mesh', env: Record<string, string> = {}) =>
  (await loadRoomEngine({ name, lack: null }, loadConfig(env)))({
    relay: { send() {}, subscribe() {} },
    hints: { tell() {}, listen() {} },
    isRecorded: () => false,
    clock: systemClock,
    log,
  });

async function openJanus(): Promise<JanusBench> {
  const folder = await mkdtemp(join(tmpdir(), 'marquee-janus-'));
  const linkFile = join(folder, 'janus.json');
  const running = startJanus({
    program: 'janus',
    folder: join(folder, 'janus'),
    linkFile,
    ports: PORTS,
    publicIp: undefined,
    log,
  });
  const engine = await openEngine('janus', { ROOMS_LINK_FILE: linkFile });
  await waitFor(async () => (await engine.health()).ok, { message: 'Janus' });
  return {
    engine,
    folder,
    process: running,
    link: () => waitFor(() => readLink(linkFile)),
    async close() {
      await engine.close();
      await running.stop();
      await rm(folder, { recursive: true });
    },
  };
}

const openMesh = async (): Promise<Bench> => {
  const engine = await openEngine('mesh');
  return { engine, close: () => engine.close() };
};

/** Defines the tests of every engine. */
function contract(name: string, open: () => Promise<Bench>, skip: string | false) {
  describe(`rooms by ${name}`, { skip }, () => {
    let bench: Bench;
    let studio: Studio;
    before(async () => {
      bench = await open();
      studio = await openStudio({ browser, engine: bench.engine });
    });
    after(async () => {
      await studio.close();
      await bench.close();
    });

    test('participants see and hear each other, including late ones', async () => {
      const { engine } = bench;
      assert.equal((await engine.createRoom({ roomId: studio.ref, maxParticipants: 8 })).ref, studio.ref);
      const [ada, bob] = [await studio.enter('ada'), await studio.enter('Jürgen 🎧 "x"')];
      await ada.publish('CAMERA', 'MICROPHONE');
      await bob.publish('CAMERA', 'MICROPHONE');
      await Promise.all([
        ...[ada.sees(bob.identity), ada.hears(bob.identity)],
        ...[bob.sees('ada'), bob.hears('ada')],
      ]);
      const late = await studio.enter('late', { canPublish: false });
      await Promise.all([late.sees('ada'), late.hears('ada'), late.sees(bob.identity)]);

      await ada.publish('SCREEN');
      await Promise.all([bob.sees('ada', 'SCREEN'), late.sees('ada', 'SCREEN'), late.sees('ada', 'CAMERA')]);
      await ada.unpublish('SCREEN');
      await waitFor(async () => (await late.arrived('ada', 'SCREEN', 'video')) === null);
      await ada.publish('SCREEN');
      await Promise.all([bob.sees('ada', 'SCREEN'), late.sees('ada', 'SCREEN')]);

      await studio.kick(bob.identity);
      await waitFor(async () => (await late.arrived(bob.identity, 'CAMERA', 'video')) === null);
      await late.sees('ada');
      const people = (await engine.listParticipants(studio.ref)).map(({ identity }) => identity);
      assert.deepEqual(people.toSorted(), ['ada', 'late']);
    });
  });
}

describe('the Janus engine', { skip: lack ?? false }, () => {
  let bench: JanusBench;
  let studio: Studio;
  const events: RoomEngineEvent[] = [];
  before(async () => {
    bench = await openJanus();
    bench.engine.onEvent((event) => events.push(event));
    studio = await openStudio({ browser, engine: bench.engine });
  });
  after(async () => {
    await studio.close();
    await bench.close();
  });

  test('Janus runs isolated: its own user, its own files, the loopback, and minimal privileges', async () => {
    const { pid, port, folder } = await bench.link();
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const entry = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1];
    assert.equal(entry('Uid'), String(process.getuid?.() === 0 ? 65_533 : process.getuid?.()));
    assert.equal(BigInt(`0x${entry('CapEff')}`), 0n);
    assert.equal(entry('NoNewPrivs'), '1');
    const files = await readdir(join(folder, 'config'));
    const paths = [join(bench.folder, 'janus.json'), ...files.map((name) => join(folder, 'config', name))];
    for (const path of paths) assert.equal((await stat(path)).mode & 0o077, 0, path);
    const [, soft, hard] =
      /Max open files +(\d+) +(\d+)/.exec(await readFile(`/proc/${pid}/limits`, 'utf8')) ?? [];
    assert.equal(soft, hard, 'as many open files as the system allows');
    const loopback = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
    assert.deepEqual(await listeners(pid), [loopback]);
    const wrong = { ...(await bench.link()), secret: 'wrong' };
    await assert.rejects(JanusClient.connect(wrong), /403|secret|Unauthorized/i);
  });

  test('the server enforces mutes and permissions, and lost media recover', async () => {
    const { engine } = bench;
    const [ada, bob] = [await studio.enter('ada'), await studio.enter('bob')];
    await Promise.all([ada.publish('CAMERA', 'MICROPHONE'), bob.publish('CAMERA')]);
    await Promise.all([bob.sees('ada'), bob.hears('ada'), ada.sees('bob')]);
    await waitFor(() => events.some((event) => event.type === 'tracks' && event.identity === 'ada'));

    await engine.setMuted(studio.ref, 'ada', 'VIDEO', true);
    const frames = async () => (await bob.arrived('ada', 'CAMERA', 'video'))?.frames ?? 0;
    let before = -1;
    const isStill = async () => {
      const last = before;
      before = await frames();
      return before === last;
    };
    await waitFor(isStill, { intervalMs: 500, message: 'no more pictures come' });
    await bob.hears('ada');
    const tracks = (await engine.listParticipants(studio.ref)).find(
      ({ identity }) => identity === 'ada',
    )?.tracks;
    assert.deepEqual(tracks, [
      { kind: 'VIDEO', muted: true },
      { kind: 'AUDIO', muted: false },
    ]);
    await engine.setMuted(studio.ref, 'ada', 'VIDEO', false);
    await bob.sees('ada');

    const { pid } = await bench.link();
    const killed = performance.now();
    process.kill(pid, 'SIGKILL');
    await waitFor(() => [ada, bob].every(({ told }) => told.some(({ state }) => state === 'down')));
    for (const { told } of [ada, bob]) assert.ok((told[0]?.at ?? Infinity) - killed < 15_000);
    await waitFor(() => bob.told.some(({ state }) => state === 'up'), { message: 'Janus is back' });
    await Promise.all([bob.sees('ada'), bob.hears('ada'), ada.sees('bob')]);

    const viewer = { canPublish: false, canSubscribe: true, canPublishData: false, canScreenShare: false };
    const quiet = { identity: 'quiet', name: null, role: 'VIEWER' as const, permissions: viewer };
    const connection = await engine.connect(studio.ref, quiet, () => {});
    const sdp = 'v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\na=sendonly\r\n';
    for (const bad of [
      ...[{}, { op: 'nothing' }, { op: 'publish' }, { op: 'publish', sdp: 'x' }, { op: 'publish', sdp }],
      ...[
        { op: 'publish', sdp, sources: { 0: 'CAMERA' } },
        { op: 'publish', sdp, sources: { 0: 'MICROPHONE' } },
      ],
      ...[
        { op: 'candidate', candidate: 4 },
        { op: 'answer', sdp: null },
      ],
    ])
      await assert.rejects(connection.signal(bad), InvalidSignalError, JSON.stringify(bad));
    await connection.close();
    await assert.rejects(
      engine.connect('room_none', quiet, () => {}),
      /No such room/,
    );
    await engine.endRoom(studio.ref);
    await engine.endRoom(studio.ref);
    assert.deepEqual(await engine.listParticipants(studio.ref), []);
  });

  test('a client cannot make Janus send to ICE candidates of other hosts', async (t) => {
    const { engine } = bench;
    await engine.createRoom({ roomId: studio.ref, maxParticipants: 8 });
    const { candidates, heard } = await openTraps(t);
    const permissions = { canPublish: true, canSubscribe: true, canPublishData: true, canScreenShare: true };
    const eve = { identity: 'eve', name: null, role: 'SPEAKER' as const, permissions };
    const connection = await engine.connect(studio.ref, eve, () => {});
    const sdp = [...OFFER, ...candidates.map((one) => `a=${one}`), ''].join('\r\n');
    await connection.signal({ op: 'publish', sdp, sources: { 0: 'CAMERA' } });
    for (const candidate of candidates)
      await connection.signal({
        ...{ op: 'candidate', pc: 'send' },
        candidate: { candidate, sdpMid: '0', sdpMLineIndex: 0 },
      });
    await connection.signal({ op: 'candidate', pc: 'send', candidate: null });
    // Others connect in the meantime.
    const [ada, bob] = [await studio.enter('ada'), await studio.enter('bob')];
    await ada.publish('CAMERA');
    await bob.sees('ada');
    assert.deepEqual(heard, []);
    await connection.close();
    await engine.endRoom(studio.ref);
  });

  test('Janus ends with the process that started it', async () => {
    const { pid, folder: place } = await bench.link();
    await bench.process.stop();
    assert.equal(isAlive(pid), false);
    if (!place.startsWith(bench.folder)) assert.equal(existsSync(place), false);
    assert.equal((await bench.engine.health()).ok, false);
    const folder = await mkdtemp(join(tmpdir(), 'marquee-janus-'));
    const child = fork(join(import.meta.dirname, 'janus-main.ts'), [folder], { stdio: 'ignore' });
    const { pid: orphan, folder: elsewhere } = await waitFor(() => readLink(join(folder, 'janus.json')), {
      timeoutMs: 10_000,
    });
    child.kill('SIGKILL');
    await waitFor(() => !isAlive(orphan));
    await rm(folder, { recursive: true });
    await rm(elsewhere, { recursive: true, force: true });
  });
});

const OFFER = [
  ...['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 't=0 0', 'a=group:BUNDLE 0'],
  ...['m=video 9 UDP/TLS/RTP/SAVPF 96', 'c=IN IP4 0.0.0.0', 'a=mid:0', 'a=sendonly', 'a=rtcp-mux'],
  ...['a=setup:actpass', 'a=ice-ufrag:abcd', 'a=ice-pwd:0123456789abcdef01234567'],
  ...[`a=fingerprint:sha-256 ${Array(32).fill('AB').join(':')}`, 'a=rtpmap:96 VP8/90000'],
];

const isAlive = (pid: number) => existsSync(`/proc/${pid}`);

/** Returns the addresses on which a process listens for TCP, in the format of /proc. */
async function listeners(pid: number): Promise<string[]> {
  const descriptors = await readdir(`/proc/${pid}/fd`);
  const targets = await Promise.all(
    descriptors.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')),
  );
  const inodes = new Set(targets.flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []));
  const rows = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8')));
  return rows
    .flatMap((text) => text.trim().split('\n').slice(1))
    .map((row) => row.trim().split(/\s+/))
    .filter((cells) => cells[3] === '0A' && inodes.has(cells[9] ?? ''))
    .map((cells) => cells[1] ?? '');
}

contract('the mesh', openMesh, false);
contract('Janus', openJanus, lack ?? false);
contract('LiveKit', openLivekit, livekitUnavailableReason() ?? false);
