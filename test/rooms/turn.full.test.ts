import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { systemClock } from '../../src/kernel/clock.ts';
import type { RoomEngine } from '../../src/media/rooms/engine.ts';
import { createJanusEngine } from '../../src/media/rooms/janus/engine.ts';
import { readLink } from '../../src/media/rooms/janus/link-file.ts';
import { janusUnavailableReason, startJanus } from '../../src/media/rooms/janus/process.ts';
import { createIceServers } from '../../src/media/rooms/turn.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { FAKE_DEVICES, findChromium, launchBrowser } from '../harness/browser.ts';
import { freePort } from '../harness/platform.ts';
import { waitFor } from '../harness/wait-for.ts';
import { devices, livekitUnavailableReason, openLivekit } from './livekit.ts';
import { openStudio } from './studio.ts';

const NAMESPACE = `marquee${process.pid}`;
const DEVICE = `mq${process.pid}`;
/** Addresses of both ends of the only link out of the namespace (RFC 5737: documentation). */
const [NEAR, FAR] = ['198.51.100.1', '198.51.100.2'];
const SECRET = 'of-the-test';

const ip = (...args: string[]) => spawnSync('ip', args, { encoding: 'utf8' });

function lackOf(): string | false {
  if (spawnSync('turnserver', ['--version'], { stdio: 'ignore' }).error !== undefined)
    return 'needs coturn (apt-get install coturn)';
  if (devices.length === 0) return 'needs a network device beside the loopback';
  if (ip('netns', 'add', NAMESPACE).status !== 0) return 'needs the right to make network namespaces';
  return false;
}

const lack = lackOf();
before(() => {
  if (lack !== false) return;
  // The namespace knows one address and has no route to that of the media server.
  ip('link', 'add', DEVICE, 'type', 'veth', 'peer', 'name', 'out', 'netns', NAMESPACE);
  ip('address', 'add', `${NEAR}/30`, 'dev', DEVICE);
  ip('link', 'set', DEVICE, 'up');
  for (const line of [`address add ${FAR}/30 dev out`, 'link set out up', 'link set lo up'])
    ip('-n', NAMESPACE, ...line.split(' '));
});
after(() => {
  ip('netns', 'del', NAMESPACE);
  ip('link', 'del', DEVICE);
});

function startTurn(port: number, relay: string): ChildProcess {
  const args = `-n --use-auth-secret --static-auth-secret=${SECRET} --realm=marquee.test
    -L ${NEAR} -p ${port} -E ${relay} --min-port=22000 --max-port=22099 --no-cli --no-tls --no-dtls
    --log-file=stdout --pidfile=${join(tmpdir(), `${NAMESPACE}.pid`)}`;
  const child = spawn('turnserver', args.split(/\s+/), { stdio: 'ignore' });
  return child;
}

const takesConnections = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, NEAR, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

interface Bench {
  engine: RoomEngine;
  close(): Promise<void>;
}

async function openJanus(device: string): Promise<Bench> {
  const dir = await mkdtemp(join(tmpdir(), 'marquee-turn-'));
  const log = createLogger('silent', { process: 'test' });
  const linkFile = join(dir, 'janus.json');
  const ports = { first: 21_400, last: 21_599 };
  const janus = startJanus({
    ...{ program: 'janus', folder: join(dir, 'janus'), linkFile, ports, publicIp: undefined },
    ...{ devices: device, log },
  });
  const engine = createJanusEngine({ linkFile, log });
  await waitFor(async () => (await engine.health()).ok, { message: 'Janus' });
  const folder = (await readLink(linkFile))?.folder ?? dir;
  return {
    engine,
    async close() {
      await engine.close();
      await janus.stop();
      for (const path of [folder, dir]) await rm(path, { recursive: true, force: true });
    },
  };
}

/** @param ways candidate types of the connections of the participant behind the firewall. */
async function seeAndHear(t: TestContext, { engine, close }: Bench, ways: readonly string[]): Promise<void> {
  t.after(close);
  const [device = { name: '', address: '' }] = devices;
  assert.notEqual(ip('-n', NAMESPACE, 'route', 'get', device.address).status, 0);
  const turnPort = await freePort();
  const turn = startTurn(turnPort, device.address);
  t.after(async () => {
    turn.kill('SIGKILL');
    await once(turn, 'exit');
  });
  await waitFor(() => takesConnections(turnPort), { message: 'coturn' });
  const dir = await mkdtemp(join(tmpdir(), 'marquee-turn-'));
  t.after(() => rm(dir, { recursive: true, force: true }));

  const address = { host: NEAR, port: await freePort() };
  const args = [...FAKE_DEVICES, `--unsafely-treat-insecure-origin-as-secure=http://${NEAR}:${address.port}`];
  const inside = join(dir, 'chromium');
  await writeFile(inside, `#!/bin/sh\nexec ip netns exec ${NAMESPACE} ${findChromium()} "$@"\n`);
  await chmod(inside, 0o755);
  const [browser, walled] = await Promise.all([launchBrowser(args), launchBrowser(args, () => inside)]);
  t.after(() => Promise.all([browser.close(), walled.close()]));
  const urls = [`turn:${NEAR}:${turnPort}?transport=tcp`];
  const iceServers = createIceServers({ urls, secret: SECRET, clock: systemClock })();
  const studio = await openStudio({ browser, engine, iceServers, address });
  t.after(() => studio.close());

  const [free, behind] = [await studio.enter('free'), await studio.enter('behind', {}, walled)];
  await Promise.all([free.publish('CAMERA', 'MICROPHONE'), behind.publish('CAMERA', 'MICROPHONE')]);
  await Promise.all([free.sees('behind'), free.hears('behind'), behind.sees('free'), behind.hears('free')]);
  assert.deepEqual(await behind.ways(), ways);
}

const NAME = 'somebody whose network lets nothing but TURN through is seen and sees';
const noJanus = lack === false ? ((await janusUnavailableReason('janus')) ?? false) : lack;
const noLivekit = lack === false ? (livekitUnavailableReason() ?? false) : lack;

test(`${NAME}, with Janus`, { skip: noJanus }, async (t) => {
  await seeAndHear(t, await openJanus(devices[0]?.name ?? ''), ['relay', 'relay']);
});

test(`${NAME}, with LiveKit`, { skip: noLivekit }, async (t) => {
  const [device = { name: '', address: '' }] = devices;
  await seeAndHear(t, await openLivekit({ host: NEAR, device }), ['relay']);
});
