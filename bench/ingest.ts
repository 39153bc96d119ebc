/**
 * Measures ingest: the CPU of ten publishers of 1080p60 at 6 Mbps with a reader each, against nginx with its
 * rtmp module in the same run (skipped if it is not installed), and the delay until the API shows the state
 * of encoders.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPartner } from '../test/harness/partner.ts';
import { freePort, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { RtmpClient } from '../test/rtmp/client.ts';
import { ownSeconds } from './support/processes.ts';
import { median, report } from './support/report.ts';
import { encodeSource, end, ffmpeg, type RtmpServer, startEngine } from './support/rtmp-engine.ts';

const PUBLISHERS = 10;
const WARM_MS = 3000;
const WINDOW_MS = 8000;
/** Rounds of each server, interleaved; the median counts. */
const CPU_ROUNDS = 3;
const ROUNDS = 10;
const NGINX_MODULE = '/usr/lib/nginx/modules/ngx_rtmp_module.so';

async function startNginx(dir: string): Promise<RtmpServer> {
  const port = await freePort();
  const config = join(dir, 'nginx.conf');
  await writeFile(
    config,
    `load_module ${NGINX_MODULE};
daemon off; master_process off; pid ${dir}/nginx.pid; error_log ${dir}/error.log;
events { worker_connections 256; }
rtmp { server { listen 127.0.0.1:${port}; application live { live on; drop_idle_publisher 10s; } } }
`,
  );
  const child = spawn('nginx', ['-c', config, '-p', dir], { stdio: 'ignore' });
  await waitFor(() => answers(port), { message: 'nginx' });
  const url = (index: number) => `rtmp://127.0.0.1:${port}/live/key-${index}`;
  return { pid: child.pid ?? -1, publishUrl: url, readUrl: url, stop: () => end(child) };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

interface Load {
  /** Percent of one core. */
  percent: number;
  mb: number;
}

/** Measures the load of the server with every publisher and its reader active. */
async function load(server: RtmpServer, source: string): Promise<Load> {
  const children: ChildProcess[] = [];
  try {
    for (let index = 0; index < PUBLISHERS; index++) {
      children.push(ffmpeg(`-re -stream_loop -1 -i ${source} -c copy -f flv ${server.publishUrl(index)}`));
      await waitFor(() => server.readUrl(index) !== '', { timeoutMs: 10_000, message: 'the publish' });
      children.push(ffmpeg(`-rw_timeout 8000000 -i ${server.readUrl(index)} -c copy -f flv /dev/null -y`));
    }
    await sleep(WARM_MS);
    const before = ownSeconds(server.pid);
    const begun = performance.now();
    await sleep(WINDOW_MS);
    const used = ownSeconds(server.pid) - before;
    const seconds = (performance.now() - begun) / 1000;
    const gone = children.filter((child) => child.exitCode !== null).length;
    if (gone > 0) throw new Error(`${gone} publishers or readers ended early`);
    return { percent: (used / seconds) * 100, mb: await residentMb(server.pid) };
  } finally {
    await Promise.all(children.map(end));
    await server.stop();
  }
}

async function compareCpu(dir: string): Promise<void> {
  const source = join(dir, 'source.flv');
  encodeSource(source);
  const hasNginx = await access(NGINX_MODULE).then(
    () => true,
    () => false,
  );
  const own: Load[] = [];
  const nginx: Load[] = [];
  for (let round = 0; round < CPU_ROUNDS; round++) {
    own.push(await load(await startEngine(), source));
    if (hasNginx) nginx.push(await load(await startNginx(dir), source));
  }
  const name = `ingest, ${PUBLISHERS} publishers of 1080p60 at 6 Mbps`;
  const percent = median(own.map((one) => one.percent));
  report({ name: `${name}: CPU`, value: percent, unit: '% of a core', target: '>= 0' });
  const mb = Math.max(...own.map((one) => one.mb));
  report({ name: `${name}: memory`, value: mb, unit: 'MB', target: '<= 200' });
  if (!hasNginx) {
    process.stdout.write('nginx with its rtmp module is not installed: the comparison is left out\n');
    return;
  }
  const value = percent / median(nginx.map((one) => one.percent));
  report({ name: `${name}: CPU / nginx-rtmp`, value, unit: 'ratio', target: '<= 2' });
}

async function timed(look: () => Promise<boolean>, timeoutMs = 15_000): Promise<number> {
  const begun = performance.now();
  await waitFor(look, { timeoutMs, intervalMs: 2 });
  return performance.now() - begun;
}

async function signalTimes(): Promise<void> {
  const platform = await startPlatform({ environment: { SIGNAL_GRACE_MS: '0' } });
  const times: Record<'signal' | 'reset' | 'start' | 'stop', number[]> = {
    signal: [],
    reset: [],
    start: [],
    stop: [],
  };
  try {
    const partner = createPartner(platform);
    const { id, streamKey } = await partner.createStream();
    const master = `${platform.url}/live/${id}/master.m3u8`;
    const hasSignal = async (expected: boolean) => (await partner.stream(id)).hasSignal === expected;
    const answersWith = async (status: number) => (await fetch(master)).status === status;
    for (let round = 0; round < ROUNDS; round++) {
      const client = await RtmpClient.connected(platform.rtmpPort);
      const code = await client.publish(streamKey);
      if (code !== 'NetStream.Publish.Start') throw new Error(`the publish was answered ${code}`);
      times.signal.push(await timed(() => hasSignal(true)));
      const startedMs = performance.now();
      await partner.start(id);
      await timed(() => answersWith(200));
      times.start.push(performance.now() - startedMs);
      const stoppedMs = performance.now();
      await partner.stop(id);
      await timed(() => answersWith(404));
      times.stop.push(performance.now() - stoppedMs);
      client.reset();
      times.reset.push(await timed(() => hasSignal(false)));
    }
  } finally {
    await platform.stop();
  }
  for (const [name, values, target] of [
    ['publish accepted to hasSignal in the API', times.signal, 300],
    ['connection reset to hasSignal false, without grace', times.reset, 1000],
    ['POST start to master.m3u8 200', times.start, 1000],
    ['POST stop to master.m3u8 404', times.stop, 1000],
  ] as const) {
    report({ name, value: median(values), unit: 'ms', target: `<= ${target}` });
    report({ name: `${name}, worst`, value: Math.max(...values), unit: 'ms', target: `<= ${target}` });
  }
}

const dir = await mkdtemp(join(tmpdir(), 'bench-ingest-'));
try {
  await signalTimes();
  await compareCpu(dir);
} finally {
  await rm(dir, { recursive: true, force: true });
}
