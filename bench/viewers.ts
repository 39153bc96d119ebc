/**
 * Measures players of parts on one api process: `node bench/viewers.ts [seconds] [LOW|STANDARD]` (by default
 * 20, and both modes; two and a half minutes in all). 500 of them, the same with one that never reads its
 * responses, and with STANDARD 1,000 behind nginx configured by docs/guides/playback.md; then the responses
 * after a stop. The players run in a separate process, which could not handle as many of LOW.
 */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { broadcastGuide, hasNginx, startNginx } from '../test/harness/nginx.ts';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import type { ViewersOptions, ViewersReport } from './support/live-viewers.ts';
import { ownSeconds } from './support/processes.ts';
import { report } from './support/report.ts';

const SECONDS = Number(process.argv.find((word) => /^\d+$/.test(word)) ?? 20);
const PLAYERS = 500;
const BEHIND_NGINX = 1000;
const MODES = ['LOW', 'STANDARD'] as const;

type Mode = (typeof MODES)[number];

async function watch(order: ViewersOptions): Promise<ViewersReport> {
  const child = fork(join(import.meta.dirname, 'support/live-viewers.ts'));
  const answer = new Promise<ViewersReport>((resolve) => child.once('message', resolve));
  child.send(order);
  const seen = await answer;
  if (child.exitCode === null) await once(child, 'exit');
  return seen;
}

async function measure(name: string, order: ViewersOptions, pid: number): Promise<ViewersReport> {
  const before = ownSeconds(pid);
  const seen = await watch(order);
  const cpu = ((ownSeconds(pid) - before) / seen.requests) * 1e6;
  report({ name: `${name}: processor time a request`, value: cpu, unit: 'µs', target: '<= 1000' });
  const { p50Ms, p95Ms, failures } = seen;
  report({ name: `${name}: after the first player, p50`, value: p50Ms, unit: 'ms', target: '<= 200' });
  report({ name: `${name}: after the first player, p95`, value: p95Ms, unit: 'ms', target: '<= 500' });
  report({ name: `${name}: requests that failed`, value: failures, unit: '', target: '<= 0' });
  return seen;
}

/** Requests the playlist repeatedly, and never reads a response. */
function readNothing(address: string): () => void {
  const { hostname, port, pathname, host } = new URL(address);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.on('error', () => {});
  for (let n = 0; n < 5000; n += 1) socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  return () => socket.destroy();
}

/** Returns the milliseconds until each URL is rejected for new players. */
async function shownFor(addresses: readonly string[]): Promise<number> {
  const fromMs = performance.now();
  let lastMs = fromMs;
  while (performance.now() - fromMs < 5000) {
    const headers = { 'user-agent': `viewer ${performance.now()}` };
    const answers = await Promise.all(addresses.map((address) => fetch(address, { headers })));
    await Promise.all(answers.map((answer) => answer.arrayBuffer()));
    if (answers.some(({ ok }) => ok)) lastMs = performance.now();
    await sleep(20);
  }
  return lastMs - fromMs;
}

/** @param lines log lines of nginx: the URL, and the upstream, `-` for a cache hit. */
function passedOn(lines: readonly string[]): void {
  const requests = lines
    .filter((line) => line !== '' && !line.endsWith(' -'))
    .map((line) => line.split(' ')[0] ?? '');
  const fetches = requests.filter((path) => /\.\d+\.m4s$/.test(path));
  const parts = new Set(fetches).size;
  const playlists = requests.filter((path) => path.endsWith('/index.m3u8')).length;
  const passed = { unit: 'a part', target: '<= 1.1' };
  report({ name: 'parts that nginx passes on', value: fetches.length / parts, ...passed });
  report({ name: 'playlists that nginx passes on', value: playlists / parts, ...passed });
}

/** A broadcast to publish to. */
function startCamera(rtmpPort: number, streamKey: string): () => void {
  const sources =
    '-re -f lavfi -i testsrc2=size=640x360:rate=30 -f lavfi -i sine=frequency=440:sample_rate=48000';
  const codecs = '-c:v libx264 -preset ultrafast -g 60 -b:v 1500k -pix_fmt yuv420p -c:a aac -f flv';
  const camera = spawn(
    'ffmpeg',
    [
      ...['-v', 'error', '-nostdin', ...`${sources} ${codecs}`.split(' ')],
      `rtmp://127.0.0.1:${rtmpPort}/live/${streamKey}`,
    ],
    { stdio: 'ignore' },
  );
  return () => camera.kill('SIGKILL');
}

async function startGuidesNginx(platform: RunningPlatform, mode: Mode) {
  if (mode === 'LOW') return null;
  if (!hasNginx()) {
    process.stdout.write('skipped: players behind nginx; there is no nginx on this machine\n');
    return null;
  }
  const { http, server } = await broadcastGuide(platform.url);
  const log = "log_format asked '$uri $upstream_addr';";
  return startNginx(`access_log /var/cache/nginx/asked asked; ${server}`, http + log);
}

async function measureMode(platform: RunningPlatform, partner: Partner, mode: Mode): Promise<void> {
  const stream = await partner.createStream({ latencyMode: mode });
  await partner.start(stream.id);
  const stopCamera = startCamera(platform.rtmpPort, stream.streamKey);
  try {
    const pid = platform.process.pid ?? 0;
    const path = `/live/${stream.id}/src/index.m3u8`;
    const playlist = platform.url + path;
    await waitFor(async () => (await (await fetch(playlist)).text()).includes('#EXTINF'), {
      timeoutMs: 30_000,
    });
    const order = { playlist, count: PLAYERS, seconds: SECONDS };
    await measure(`${mode}, ${PLAYERS} players`, order, pid);
    const stopReading = readNothing(playlist);
    await measure(`${mode}, ${PLAYERS} players beside one that reads nothing`, order, pid);
    stopReading();
    const addresses = [playlist];
    const nginx = await startGuidesNginx(platform, mode);
    if (nginx !== null) {
      addresses.push(nginx.url + path);
      const behind = { playlist: nginx.url + path, count: BEHIND_NGINX, seconds: SECONDS };
      await measure(`${mode}, ${BEHIND_NGINX} players behind nginx`, behind, pid);
      passedOn((await readFile(join(nginx.dir, 'asked'), 'utf8')).split('\n'));
    }
    const shown = addresses.map((address) => shownFor([address]));
    await partner.stop(stream.id);
    for (const [index, ms] of (await Promise.all(shown)).entries()) {
      const by = index === 0 ? '' : ', by nginx';
      report({ name: `${mode}, shown after a stop${by}`, value: ms, unit: 'ms', target: '<= 2000' });
    }
    await nginx?.close();
  } finally {
    stopCamera();
  }
}

const platform = await startPlatform();
try {
  const partner = createPartner(platform);
  const named = MODES.filter((mode) => process.argv.includes(mode));
  for (const mode of named.length > 0 ? named : MODES) await measureMode(platform, partner, mode);
} finally {
  await platform.stop();
}
