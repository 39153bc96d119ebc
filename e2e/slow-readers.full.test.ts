import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ViewersOptions, ViewersReport } from '../bench/support/live-viewers.ts';
import { proportionalMegabytes } from '../bench/support/memory.ts';
import { createPartner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { type Publisher, startPublisher } from '../test/rtmp/publisher.ts';

const PLAYERS = 40;
const SECONDS = 45;
/** A part every 0.75 s (docs/decisions/live-packaging.md#parts). */
const PARTS_LEAST = SECONDS;
/** Time by which a client is disconnected that has not read a response for 30 s. */
const ENDED_MS = 50_000;
const GROWTH_MAX_MB = 96;

let platform: RunningPlatform;
let encoder: Publisher;
let playlist: string;
before(async () => {
  platform = await startPlatform({ environment: { LIVE_MAX_RUNGS: '0' } });
  const partner = createPartner(platform);
  const { id, streamKey } = await partner.createStream();
  await partner.start(id);
  encoder = startPublisher({
    url: `rtmp://127.0.0.1:${platform.rtmpPort}/live/${streamKey}`,
    ...{ width: 1280, height: 720, fps: 15, bitrateKbps: 4000 },
  });
  playlist = `${platform.url}/live/${id}/src/index.m3u8`;
  await waitFor(async () => segmentsIn(await (await fetch(playlist)).text()).length > 2, {
    ...{ timeoutMs: 60_000, intervalMs: 200, message: 'segments' },
  });
});
after(async () => {
  await encoder?.stop();
  await platform?.stop();
});

function segmentsIn(text: string): string[] {
  return [...text.matchAll(/^\.\.\/\S+\.m4s$/gm)].map(([uri]) => uri);
}

/**
 * Fills a connection with requests, and reads `bytesPerSec` of it. @param onEnd receives the time until it
 * was closed.
 */
function readSlowly(address: string, bytesPerSec: number, onEnd: (ms: number) => void): Socket {
  const { hostname, port, pathname, host } = new URL(address);
  const startMs = performance.now();
  const socket = connect(Number(port), hostname);
  socket.pause();
  const request = `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  socket.write(request.repeat(200));
  const timer = setInterval(() => {
    if (bytesPerSec > 0) socket.read(bytesPerSec);
    // Writing detects a closed connection.
    socket.write(request);
  }, 1000);
  socket.on('error', () => {});
  socket.once('close', () => {
    clearInterval(timer);
    onEnd(performance.now() - startMs);
  });
  return socket;
}

function watch(): { seen: Promise<ViewersReport>; process: ChildProcess } {
  const child = fork(join(import.meta.dirname, '../bench/support/live-viewers.ts'));
  const seen = new Promise<ViewersReport>((resolve) => child.once('message', resolve));
  const order: ViewersOptions = { playlist, count: PLAYERS, seconds: SECONDS };
  child.send(order);
  return { seen, process: child };
}

const megabytes = () =>
  proportionalMegabytes(platform.process.pid ?? -1).find(({ name }) => /^start\./.test(name))?.megabytes ?? 0;

test('slow readers are disconnected and do not delay other viewers', async (t) => {
  const { seen, process: players } = watch();
  t.after(() => players.kill('SIGKILL'));
  const [segment = ''] = segmentsIn(await (await fetch(playlist)).text()).slice(-1);
  const file = new URL(segment, playlist).href;
  const before = megabytes();
  assert.ok(before > 0, 'the memory of the process is known');
  const lasted: number[] = [];
  const slow = [0, 0, 0, 1].map((bytes) => readSlowly(file, bytes, (ms) => lasted.push(Math.round(ms))));
  t.after(() => {
    for (const socket of slow) socket.destroy();
  });
  const { parts, failures, p95Ms } = await seen;
  const grown = megabytes() - before;
  await waitFor(() => lasted.length === slow.length, {
    message: () => `all to be ended, not ${lasted.length}`,
  });
  t.diagnostic(`${parts} parts, ${failures} failures, p95 ${p95Ms} ms, ${lasted} ms, ${grown} MB more`);
  assert.equal(failures, 0);
  assert.ok(parts >= PARTS_LEAST, `${parts} parts in ${SECONDS} s`);
  assert.ok(p95Ms < 1000, `the slowest came ${p95Ms} ms after the first`);
  for (const ms of lasted) assert.ok(ms < ENDED_MS, `a slow reader was ended after ${lasted} ms`);
  assert.ok(grown < GROWTH_MAX_MB, `${grown} MB more`);
});
