/**
 * Measures rooms: the cost of forwarding 720p video through the platform against a Janus that a bare page
 * drives, the time to the first frame after joining, 20 concurrent joins, and the memory of a room in which
 * nothing is sent. The same browser, the same client engine, and videos of the same size in one run.
 * Composing a recording is measured by `room-recording.ts`. Nothing is measured if Janus is not installed.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { createJanusEngine } from '../src/media/rooms/janus/engine.ts';
import { readLink } from '../src/media/rooms/janus/link-file.ts';
import { janusUnavailableReason, startJanus } from '../src/media/rooms/janus/process.ts';
import { createLogger } from '../src/platform/logger.ts';
import { FAKE_DEVICES, launchBrowser, type TestBrowser } from '../test/harness/browser.ts';
import { freePort, type RunningPlatform, startPlatform, unlimitedHeaders } from '../test/harness/platform.ts';
import { childrenOf, singleItem } from '../test/harness/processes.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { connectRoom, type RoomClient } from '../test/rooms/client.ts';
import { openStudio } from '../test/rooms/studio.ts';
import { median, report } from './support/report.ts';

const PEOPLE = ['ada', 'ben', 'cleo'];
/** Each sends to each other one. */
const FORWARDED = PEOPLE.length * (PEOPLE.length - 1);
const ROUNDS = 3;
const WARM_MS = 8000;
const WINDOW_MS = 10_000;
const JOINS = 20;
const IDLE_ROOMS = 200;
const PATIENT = { timeoutMs: 60_000, intervalMs: 50 };
const log = createLogger('silent', { process: 'bench' });

/**
 * Page script: cameras of 1280 by 720, the packets received, and the time of the first frame after joining.
 */
const PROBE = `{
  const connections = [];
  const Native = RTCPeerConnection;
  window.RTCPeerConnection = class extends Native {
    constructor(...given) { super(...given); connections.push(this); }
  };
  const real = MediaDevices.prototype.getUserMedia;
  MediaDevices.prototype.getUserMedia = function ({ audio, video }) {
    return real.call(this, video ? { video: { width: 1280, height: 720 } } : { audio });
  };
  window.received = async () => {
    const sum = { packets: 0, frames: 0 };
    for (const connection of connections) {
      if (connection.connectionState === 'closed') continue;
      for (const entry of (await connection.getStats()).values()) {
        if (entry.type !== 'inbound-rtp' || entry.kind !== 'video') continue;
        sum.packets += entry.packetsReceived ?? 0;
        sum.frames += entry.framesDecoded ?? 0;
      }
    }
    return sum;
  };
  window.firstPictureMs = async () => {
    const begun = performance.now();
    [...document.querySelectorAll('button')].find((one) => one.textContent.trim() === 'Join').click();
    while ((await window.received()).frames === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    return performance.now() - begun;
  };
}`;
const PAGE = { initScript: PROBE, permissions: ['camera', 'microphone'] };

/** Nanoseconds of processor time of all threads. */
async function cpuNs(pids: readonly number[]): Promise<number> {
  let sum = 0;
  for (const pid of pids) {
    for (const task of await readdir(`/proc/${pid}/task`)) {
      const text = await readFile(`/proc/${pid}/task/${task}/schedstat`, 'utf8').catch(() => '0');
      sum += Number(text.split(' ')[0]);
    }
  }
  return sum;
}

async function residentKb(pids: readonly number[]): Promise<number> {
  const texts = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/status`, 'utf8')));
  return texts.reduce((sum, text) => sum + Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0), 0);
}

interface Load {
  /** Percent of one core for each forwarded video. */
  percent: number;
  /** Processor time for each received video packet, in microseconds. */
  perPacketUs: number;
}

const received = async (pages: readonly Page[]) => {
  const all = await Promise.all(pages.map((page) => page.evaluate<{ packets: number }>('received()')));
  return all.reduce((sum, { packets }) => sum + packets, 0);
};

/** @param idle the load without rooms, in percent of a core. */
async function measure(pids: readonly number[], pages: readonly Page[], idle: number): Promise<Load> {
  await sleep(WARM_MS);
  const [ns, packets, begun] = [await cpuNs(pids), await received(pages), performance.now()];
  await sleep(WINDOW_MS);
  const ms = performance.now() - begun;
  const used = ((await cpuNs(pids)) - ns) / 1e6 - (idle * ms) / 100;
  const came = (await received(pages)) - packets;
  return { percent: (used / ms / FORWARDED) * 100, perPacketUs: (used * 1000) / came };
}

async function idlePercent(pids: readonly number[]): Promise<number> {
  const [ns, begun] = [await cpuNs(pids), performance.now()];
  await sleep(WINDOW_MS);
  return ((await cpuNs(pids)) - ns) / 1e4 / (performance.now() - begun);
}

/** Measures Janus as the platform runs it, with pages that use it only for media. */
async function bare(browser: TestBrowser): Promise<Load> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-rooms-'));
  const linkFile = join(folder, 'janus.json');
  const ports = { first: 22_000, last: 22_199 };
  const janus = startJanus({
    ...{ program: 'janus', folder: join(folder, 'janus'), linkFile, ports, publicIp: undefined, log },
  });
  const engine = createJanusEngine({ linkFile, log });
  try {
    await waitFor(async () => (await engine.health()).ok, PATIENT);
    const { pid } = await waitFor(() => readLink(linkFile), PATIENT);
    const studio = await openStudio({ browser, engine, page: PAGE });
    const guests = [];
    for (const name of PEOPLE) guests.push(await studio.enter(name));
    for (const guest of guests) await guest.publish('CAMERA', 'MICROPHONE');
    const load = await measure(
      [pid],
      guests.map(({ page }) => page),
      0,
    );
    await studio.close();
    return load;
  } finally {
    await engine.close();
    await janus.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

class Rooms {
  readonly #platform: RunningPlatform;
  readonly #headers: Record<string, string>;

  constructor(platform: RunningPlatform, headers: Record<string, string>) {
    this.#platform = platform;
    this.#headers = headers;
  }

  async #post(path: string, body: object): Promise<Record<string, unknown>> {
    const request = { method: 'POST', headers: this.#headers, body: JSON.stringify(body) };
    const response = await fetch(`${this.#platform.api}${path}`, request);
    const answer = Object(await response.json());
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer.data;
  }

  create = async (more: object = {}) => String((await this.#post('/rooms', { name: 'Bench', ...more })).id);

  token = (roomId: string, identity: string) =>
    this.#post(`/rooms/${roomId}/tokens`, { identity, name: identity });

  end = (roomId: string) => this.#post(`/rooms/${roomId}/end`, {});

  /** Opens the join page, up to the button that joins. */
  async lobby(browser: TestBrowser, roomId: string, name: string) {
    const opened = await browser.open(String((await this.token(roomId, name)).url), PAGE);
    const press = (words: string) => opened.page.getByRole('button', { name: words, exact: true }).click();
    await press('Turn on the camera');
    await opened.page.getByRole('button', { name: 'Turn off the camera' }).waitFor();
    await press('Turn on the microphone');
    await opened.page.getByRole('button', { name: 'Turn off the microphone' }).waitFor();
    return { ...opened, join: () => press('Join') };
  }

  /** A connection to the gateway without media. */
  connect = (roomId: string, token: unknown, from: string): RoomClient =>
    connectRoom(this.#platform, roomId, [String(token)], { from });
}

async function forwarding(rooms: Rooms, browser: TestBrowser, pids: readonly number[]): Promise<void> {
  const [own, alone]: [Load[], Load[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    const idle = await idlePercent(pids);
    const roomId = await rooms.create();
    const people = [];
    for (const name of PEOPLE) people.push(await rooms.lobby(browser, roomId, name));
    for (const person of people) await person.join();
    own.push(
      await measure(
        pids,
        people.map(({ page }) => page),
        idle,
      ),
    );
    await rooms.end(roomId);
    for (const person of people) await person.close();
    alone.push(await bare(browser));
  }
  const percent = (loads: Load[]) => median(loads.map((load) => load.percent));
  const us = (loads: Load[]) => median(loads.map((load) => load.perPacketUs));
  const name = 'room of three at 720p, for each forwarded picture';
  report({ name: `${name}: CPU`, value: percent(own), unit: '% of a core', target: '<= 2' });
  report({
    name: `${name}: the same of Janus alone`,
    value: percent(alone),
    unit: '% of a core',
    target: '<= 2',
  });
  const ratio = { value: us(own) / us(alone), unit: 'ratio', target: '<= 1.1' };
  report({ name: `${name}: CPU of a packet / Janus alone`, ...ratio });
}

async function joining(rooms: Rooms, browser: TestBrowser): Promise<void> {
  const roomId = await rooms.create();
  const host = await rooms.lobby(browser, roomId, 'host');
  await host.join();
  await host.page.getByRole('button', { name: 'Leave', exact: true }).last().waitFor();
  const times: number[] = [];
  for (let index = 0; index < JOINS; index++) {
    const guest = await rooms.lobby(browser, roomId, `guest-${index}`);
    times.push(await guest.page.evaluate<number>('firstPictureMs()'));
    await guest.close();
  }
  await host.close();
  await rooms.end(roomId);
  const sorted = times.toSorted((a, b) => a - b);
  const name = 'from the click on Join to the first decoded picture';
  report({ name: `${name}, p50`, value: sorted[JOINS / 2] ?? Number.NaN, unit: 'ms', target: '<= 1000' });
  report({ name: `${name}, p95`, value: sorted[JOINS - 2] ?? Number.NaN, unit: 'ms', target: '<= 2000' });
}

async function together(rooms: Rooms): Promise<void> {
  const seats = 10;
  const roomId = await rooms.create({ maxParticipants: seats });
  const names = Array.from({ length: 2 * seats }, (_, index) => `p${index}`);
  const tokens = await Promise.all(names.map(async (name) => (await rooms.token(roomId, name)).token));
  const begun = performance.now();
  const clients = tokens.map((token) => rooms.connect(roomId, token, '10.1.0.1'));
  const isIn = ({ messages }: RoomClient) => messages.some(({ type }) => type === 'welcome');
  await waitFor(() => clients.every((one) => isIn(one) || one.closed !== null), {
    ...PATIENT,
    intervalMs: 2,
  });
  const name = '20 joins at once for 10 seats';
  report({
    name: `${name}: until all know`,
    value: performance.now() - begun,
    unit: 'ms',
    target: '<= 1000',
  });
  const taken = clients.filter(isIn);
  report({ name: `${name}: seats taken`, value: taken.length, unit: 'people', target: `<= ${seats}` });
  await Promise.all(taken.map((one) => one.close()));
  await rooms.end(roomId);
}

async function idleRooms(rooms: Rooms, pids: readonly number[]): Promise<void> {
  const clients: RoomClient[] = [];
  const open = async (count: number) => {
    for (let index = 0; index < count; index++) {
      const roomId = await rooms.create();
      const { token } = await rooms.token(roomId, 'ada');
      const client = rooms.connect(roomId, token, `10.0.0.${clients.length}`);
      await client.next('welcome');
      clients.push(client);
    }
    await sleep(WARM_MS);
    return residentKb(pids);
  };
  // The initial memory of a process is excluded.
  const before = await open(20);
  const kb = ((await open(IDLE_ROOMS)) - before) / IDLE_ROOMS;
  report({
    name: 'a room with one person who sends nothing: memory',
    value: kb,
    unit: 'kB',
    target: '<= 300',
  });
  await Promise.all(clients.map((client) => client.close()));
}

const lack = await janusUnavailableReason('janus');
if (lack !== null) process.stdout.write(`nothing is measured: ${lack}\n`);
else {
  const port = await freePort();
  const environment = {
    PUBLIC_URL: `http://localhost:${port}`,
    ROOMS_UDP_PORTS: '22200-22799',
    TRUST_PROXY: '1',
  };
  const [platform, browser] = await Promise.all([
    startPlatform({ port, environment }),
    launchBrowser(FAKE_DEVICES),
  ]);
  try {
    const rooms = new Rooms(platform, await unlimitedHeaders(platform));
    const root = platform.process.pid ?? -1;
    const { pid } = await waitFor(() => readLink(join(platform.dataDir, 'rooms', 'janus.json')), PATIENT);
    const pids = [root, singleItem(childrenOf(root, '/media.')), pid];
    await forwarding(rooms, browser, pids);
    await joining(rooms, browser);
    await together(rooms);
    await idleRooms(rooms, pids);
  } finally {
    await browser.close();
    await platform.stop();
  }
}
