/**
 * Measures the delay of an RTMP handshake while a stranger attacks the same media process: `node
 * bench/hostile.ts`, a minute. The attacker runs in a separate process, and all traffic is on loopback.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createTestCa } from '../test/harness/certificates.ts';
import type { AttackOrder } from './support/hostile-attacker.ts';
import { isQuick, report } from './support/report.ts';
import { end } from './support/rtmp-engine.ts';

const ATTACKS = [
  ...['bridge playout', 'AAC packets', 'HLS playlist'],
  ...['empty messages', 'tiny frames', 'aggregate'],
];
const WINDOW_MS = isQuick ? 3000 : 10_000;
const SETTLE_MS = 500;
const EVERY_MS = 20;
/** Value counted for a longer handshake, so that an attack ends the window and not the benchmark. */
const MAX_HANDSHAKE_MS = 20_000;
const MAX_MORE_MS = 50;

/** Milliseconds from the connection to the end of the handshake. */
function handshakeMs(port: number): Promise<number> {
  const startedMs = performance.now();
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.write(Buffer.concat([Buffer.of(3), Buffer.alloc(8), randomBytes(1528), Buffer.alloc(1536)]));
  let received = 0;
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(performance.now() - startedMs);
    };
    const timer = setTimeout(finish, MAX_HANDSHAKE_MS);
    socket.on('error', finish);
    socket.on('data', ({ length }: Buffer) => {
      received += length;
      if (received >= 1 + 2 * 1536) finish();
    });
  });
}

/** Starts handshakes throughout the window at fixed times, whether or not earlier ones have ended. */
async function p99(port: number): Promise<number> {
  const handshakes: Promise<number>[] = [];
  for (const untilMs = performance.now() + WINDOW_MS; performance.now() < untilMs; await delay(EVERY_MS)) {
    handshakes.push(handshakeMs(port));
  }
  const sorted = (await Promise.all(handshakes)).toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN;
}

function start(name: string, execArgv: string[] = []): ChildProcess {
  return fork(join(import.meta.dirname, `support/${name}.ts`), { execArgv });
}

/** The first message of a process. */
async function firstMessage(child: ChildProcess): Promise<Record<string, unknown>> {
  const [message]: unknown[] = await once(child, 'message');
  return Object(message);
}

// Started with the flags of the media process.
const media = start('hostile-media', ['--max-semi-space-size=1', '--heap-growing-percent=100']);
const ca = await createTestCa();
try {
  const { port } = await firstMessage(media);
  const rtmpPort = Number(port);
  media.send({ ca: ca.pem });
  await p99(rtmpPort);
  const quietMs = await p99(rtmpPort);
  report({ name: 'RTMP handshake, quiet, p99', value: quietMs, unit: 'ms', target: '<= 50' });
  const certificate = await ca.issue(['localhost', '127.0.0.1']);
  for (const attack of ATTACKS) {
    const attacker = start('hostile-attacker');
    const order: AttackOrder = { attack, rtmpPort, certificate };
    attacker.send(order);
    const { source } = await firstMessage(attacker);
    if (source !== null) media.send({ bridge: source });
    const moreMs = (await p99(rtmpPort)) - quietMs;
    await end(attacker);
    media.send({ bridge: null });
    report({
      name: `RTMP handshake during "${attack}", p99 above quiet`,
      value: moreMs,
      unit: 'ms',
      target: `<= ${MAX_MORE_MS}`,
    });
    await delay(SETTLE_MS);
  }
} finally {
  await end(media);
  await ca.close();
}
