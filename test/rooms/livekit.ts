import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { createServer } from 'node:http';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import type { RoomEngine } from '../../src/media/rooms/engine.ts';
import { janusUnavailableReason } from '../../src/media/rooms/janus/process.ts';
import { loadRoomEngine } from '../../src/media/rooms/open.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { freePort } from '../harness/platform.ts';
import { killProcess } from '../harness/processes.ts';
import { waitFor } from '../harness/wait-for.ts';

const PROGRAM = join(import.meta.dirname, '../../.cache/peers/livekit');

/** The reason that a skipped test shows, or null where the server program was built. */
export function livekitUnavailableReason(): string | null {
  try {
    accessSync(PROGRAM, constants.X_OK);
    return null;
  } catch {
    return 'no LiveKit server for the tests; with Go installed type: node scripts/test-tools.mjs livekit';
  }
}

/** Network devices other than the loopback, which Janus does not use. */
export const devices = Object.entries(networkInterfaces()).flatMap(([name, addresses]) =>
  (addresses ?? [])
    .filter((one) => one.family === 'IPv4' && !one.internal)
    .map(({ address }) => ({ name, address })),
);

/** The reason that a skipped test shows, or null where LiveKit and Janus can send to each other. */
export async function lackOfRecordedLivekit(): Promise<string | null> {
  const lack = (await janusUnavailableReason('janus')) ?? livekitUnavailableReason();
  return lack ?? (devices.length === 0 ? 'needs a network device beside the loopback' : null);
}

/** Returns a location for LiveKit whose network device Janus can send to. */
export function onJanusNetwork(): Place {
  const [device] = devices;
  return device === undefined ? LOOPBACK : { host: '127.0.0.1', device };
}

/** LiveKit server, on the loopback by default. */
export interface TestLivekit {
  /** Values of the `LIVEKIT_*` variables. */
  env: { LIVEKIT_URL: string; LIVEKIT_API_KEY: string; LIVEKIT_API_SECRET: string };
  /** Kills it immediately, as by `kill -9`. */
  kill(): Promise<void>;
  /** Starts it on the same ports, without its previous state. */
  start(): Promise<void>;
  close(): Promise<void>;
}

interface Place {
  /** Host to which browsers connect. */
  host: string;
  /** Network device for media, and its address. */
  device: { name: string; address: string };
}

const LOOPBACK: Place = { host: '127.0.0.1', device: { name: 'lo', address: '127.0.0.1' } };

/** @param webhook URL for its events. */
export async function startLivekit(webhook: string, { host, device } = LOOPBACK): Promise<TestLivekit> {
  const [port, tcpPort, udpPort] = [await freePort(), await freePort(), await freeUdpPort()];
  const key = `API${randomBytes(6).toString('hex')}`;
  const secret = randomBytes(24).toString('hex');
  const settings = {
    port,
    bind_addresses: [host],
    rtc: {
      ...{ tcp_port: tcpPort, udp_port: udpPort },
      ...{ node_ip: device.address, use_external_ip: false, enable_loopback_candidate: device.name === 'lo' },
      interfaces: { includes: [device.name] },
      stun_servers: [],
    },
    room: { auto_create: false },
    keys: { [key]: secret },
    webhook: { api_key: key, urls: [webhook] },
    logging: { level: 'error' },
  };
  let child: ChildProcess | null = null;
  const isUp = async () => (await fetch(`http://${host}:${port}/`)).ok;
  const livekit: TestLivekit = {
    env: { LIVEKIT_URL: `ws://${host}:${port}`, LIVEKIT_API_KEY: key, LIVEKIT_API_SECRET: secret },
    async start() {
      // JSON is YAML.
      child = spawn(PROGRAM, ['--config-body', JSON.stringify(settings)], { stdio: 'ignore' });
      await waitFor(() => isUp().catch(() => false), { timeoutMs: 10_000, message: 'LiveKit' });
    },
    async kill() {
      if (child !== null) await killProcess(child);
    },
    close: () => livekit.kill(),
  };
  await livekit.start();
  return livekit;
}

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  return port;
}

/** Opens an engine with a separate server, which sends it events. */
export async function openLivekit(place = LOOPBACK): Promise<{
  engine: RoomEngine;
  server: TestLivekit;
  close(): Promise<void>;
}> {
  const refused: unknown[] = [];
  const hooks = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    await engine.webhook?.receive(body, request.headers.authorization).catch((error) => refused.push(error));
    response.end();
  });
  await new Promise<void>((resolve) => hooks.listen(0, '127.0.0.1', resolve));
  const address = hooks.address();
  const port = typeof address === 'object' ? address?.port : null;
  const server = await startLivekit(`http://127.0.0.1:${port}/`, place);
  const listeners: ((ref: string) => void)[] = [];
  const open = await loadRoomEngine({ name: 'livekit', lack: null }, loadConfig(server.env));
  const engine = open({
    relay: { send() {}, subscribe() {} },
    // Behaves like the bus for one node.
    hints: {
      tell(ref) {
        for (const listener of listeners) listener(ref);
      },
      listen: (listener) => listeners.push(listener),
    },
    isRecorded: () => false,
    clock: systemClock,
    log: createLogger('silent', { process: 'test' }),
  });
  await waitFor(async () => (await engine.health()).ok, { message: 'LiveKit' });
  return {
    engine,
    server,
    async close() {
      await engine.close();
      await server.close();
      hooks.closeAllConnections();
      hooks.close();
      assert.deepEqual(refused, []);
    },
  };
}
