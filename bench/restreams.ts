/**
 * Measures restreams: the cost of a destination against an ffmpeg that copies the same feed to the same nginx
 * in the same run, the delay until a returning destination is sent to again, and the effect of twenty
 * destinations on the broadcast. Nothing is measured if nginx with its rtmp module is not installed.
 */
import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SENDER_FLAGS } from '../src/main/media/sender-process.ts';
import { freePort } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { NO_NGINX_RTMP, type RtmpServer, startNginxRtmp } from '../test/restream/destinations.ts';
import { median, report } from './support/report.ts';

const ROOT = join(import.meta.dirname, '..');
const ROUNDS = 3;
/**
 * Warm-up excluded from the window: a broadcast lasts hours, so the first seconds of a process are measured
 * separately.
 */
const WARM_MS = 12_000;
const WINDOW_MS = 15_000;

let cacheDir = '';
const cleanups: (() => unknown)[] = [];
const scope = { after: (work: () => unknown) => void cleanups.push(work) };

/** A source that ffmpeg can send again and again without encoding it. */
function encodeSource(path: string): void {
  const input = '-f lavfi -i testsrc2=size=1920x1080:rate=60 -f lavfi -i sine=sample_rate=48000 -t 6';
  const video = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 120 -sc_threshold 0';
  const rate = '-b:v 6M -minrate 6M -maxrate 6M -bufsize 6M -x264-params nal-hrd=cbr';
  const args = `-v error -y -nostdin ${input} ${video} ${rate} -c:a aac -b:a 128k -ac 2 ${path}`;
  execFileSync('ffmpeg', args.split(' '));
}

function ffmpeg(args: string): ChildProcess {
  return spawn('ffmpeg', ['-v', 'error', '-nostdin', ...args.split(' ')], { stdio: 'ignore' });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

/** Nanoseconds of processor time of all threads. */
async function cpuNs(pid: number): Promise<number> {
  const tasks = await readdir(`/proc/${pid}/task`);
  const read = (task: string) => readFile(`/proc/${pid}/task/${task}/schedstat`, 'utf8').catch(() => '0');
  const used = await Promise.all(tasks.map(read));
  return used.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0);
}

async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** Ports that serve a publish: to packagers, and to senders. */
interface Publish {
  readPort: number;
  senderPort: number;
}

/** An ingest with one publish. */
async function startIngest(source: string): Promise<Publish> {
  const child = fork(join(ROOT, 'test/rtmp/engine-main.ts'), { execArgv: ['--max-semi-space-size=1'] });
  const told: Record<string, number> = {};
  child.on('message', (message) => void Object.assign(told, message));
  await waitFor(() => told.port, { timeoutMs: 10_000 });
  const encoder = ffmpeg(
    `-re -stream_loop -1 -i ${source} -c copy -f flv rtmp://127.0.0.1:${told.port}/live/key-a`,
  );
  scope.after(() => Promise.all([end(encoder), end(child)]));
  return waitFor(
    () => {
      const { readPort, senderPort } = told;
      return readPort !== undefined && senderPort !== undefined && { readPort, senderPort };
    },
    { timeoutMs: 10_000 },
  );
}

interface Load {
  /** Percent of one core, after the warm-up. */
  percent: number;
  mb: number;
  /** Processor time until all destinations take the broadcast, in milliseconds. */
  startMs: number;
}

async function measure(pids: readonly number[]): Promise<Load> {
  const sum = async (of: (pid: number) => Promise<number>) =>
    (await Promise.all(pids.map(of))).reduce((a, b) => a + b, 0);
  const startMs = (await sum(cpuNs)) / 1e6;
  await sleep(WARM_MS);
  const before = await sum(cpuNs);
  const begun = performance.now();
  await sleep(WINDOW_MS);
  const ns = (await sum(cpuNs)) - before;
  return { percent: ns / 1e4 / (performance.now() - begun), mb: await sum(residentMb), startMs };
}

interface Sender {
  pid: number;
  want(url: string, keys: readonly string[]): void;
  stop(): Promise<void>;
}

function startSender({ senderPort }: Publish): Sender {
  const child = fork(join(ROOT, 'src/main/media/sender.ts'), {
    stdio: ['pipe', 'inherit', 'inherit', 'ipc'],
    execArgv: ['--disable-warning=ExperimentalWarning', ...SENDER_FLAGS],
    env: { ...process.env, FETCH_ALLOW_PRIVATE: '127.0.0.0/8', NODE_COMPILE_CACHE: cacheDir },
  });
  const feed = connect(senderPort, '127.0.0.1').on('error', () => {});
  if (child.stdin) feed.pipe(child.stdin.on('error', () => {}));
  return {
    pid: child.pid ?? -1,
    want(url, keys) {
      const one = { revision: 1, streamId: 'str_a', platform: 'CUSTOM', url };
      child.send({
        type: 'want',
        wanted: keys.map((key) => ({ ...one, targetId: key, streamKey: key, passphrase: null })),
      });
    },
    async stop() {
      feed.destroy();
      // Stopped gracefully, so that its compile cache is stored for the next one.
      const exit = once(child, 'exit');
      child.send({ type: 'stop' });
      await exit;
    },
  };
}

const keysOf = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name}${n}`);
const allPublish = (far: RtmpServer, keys: readonly string[]) =>
  waitFor(
    async () => (await Promise.all(keys.map((key) => far.stream(key)))).every((one) => one?.publishing),
    {
      timeoutMs: 20_000,
      intervalMs: 200,
    },
  );

async function ours(far: RtmpServer, publish: Publish, count: number): Promise<Load> {
  const sender = startSender(publish);
  const keys = keysOf('own', count);
  sender.want(far.url, keys);
  await allPublish(far, keys);
  const load = await measure([sender.pid]);
  await sender.stop();
  return load;
}

async function raw(far: RtmpServer, { readPort }: Publish, count: number): Promise<Load> {
  const keys = keysOf('raw', count);
  const input = `-f live_flv -i tcp://127.0.0.1:${readPort}`;
  const children = keys.map((key) => ffmpeg(`${input} -c copy -f flv ${far.url}/${key}`));
  await allPublish(far, keys);
  const load = await measure(children.map(({ pid = -1 }) => pid));
  await Promise.all(children.map(end));
  return load;
}

async function compare(far: RtmpServer, publish: Publish): Promise<void> {
  for (const count of [1, 3, 20]) {
    const own: Load[] = [];
    const bare: Load[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      own.push(await ours(far, publish, count));
      bare.push(await raw(far, publish, count));
    }
    const percent = (loads: Load[]) => median(loads.map((load) => load.percent)) / count;
    const mb = (loads: Load[]) => median(loads.map((load) => load.mb)) / count;
    const name = `restream, ${count} destinations of 1080p60 at 6 Mbps, each`;
    report({ name: `${name}: CPU`, value: percent(own), unit: '% of a core', target: '>= 0' });
    report({
      name: `${name}: CPU / ffmpeg -c copy`,
      value: percent(own) / percent(bare),
      unit: 'ratio',
      target: '<= 1.05',
    });
    const startMs = (loads: Load[]) => median(loads.map((load) => load.startMs)) / count;
    report({ name: `${name}: CPU of the start`, value: startMs(own), unit: 'ms', target: '<= 500' });
    report({ name: `${name}: the same of ffmpeg`, value: startMs(bare), unit: 'ms', target: '<= 500' });
    report({ name: `${name}: memory`, value: mb(own), unit: 'MB', target: '<= 90' });
    report({ name: `${name}: memory / ffmpeg`, value: mb(own) / mb(bare), unit: 'ratio', target: '<= 1.5' });
  }
}

/** From the return of a destination to its bytes: less than the wait that is then running, and three seconds. */
async function comeBack(publish: Publish): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const port = await freePort();
    const first = await startNginxRtmp(scope, { port });
    const sender = startSender(publish);
    sender.want(first.url, ['back']);
    await allPublish(first, ['back']);
    first.kill('SIGKILL');
    await sleep(200);
    const second = await startNginxRtmp(scope, { port });
    const begun = performance.now();
    await waitFor(async () => ((await second.stream('back'))?.bytes ?? 0) > 100_000, {
      timeoutMs: 10_000,
      intervalMs: 20,
    });
    times.push(performance.now() - begun);
    await sender.stop();
  }
  const name = 'restream, destination back to bytes flowing, worst';
  report({ name, value: Math.max(...times), unit: 'ms', target: '<= 5000' });
}

/** Measures a reader of the same publish: frames per second, and the longest wait for one. */
async function watch({ readPort }: Publish): Promise<{ bytesPerSec: number; longestMs: number }> {
  const reader = connect(readPort, '127.0.0.1');
  let bytes = 0;
  let last = 0;
  let longestMs = 0;
  await sleep(2000);
  reader.on('data', (chunk) => {
    const now = performance.now();
    if (last > 0) longestMs = Math.max(longestMs, now - last);
    last = now;
    bytes += chunk.length;
  });
  await sleep(1000);
  [bytes, longestMs] = [0, 0];
  const begun = performance.now();
  await sleep(6000);
  reader.destroy();
  return { bytesPerSec: (bytes / (performance.now() - begun)) * 1000, longestMs };
}

async function undisturbed(far: RtmpServer, publish: Publish): Promise<void> {
  const alone = await watch(publish);
  const sender = startSender(publish);
  const keys = keysOf('many', 20);
  sender.want(far.url, keys);
  await allPublish(far, keys);
  const beside = await watch(publish);
  await sender.stop();
  const name = 'restream, a viewer of the broadcast beside 20 destinations';
  report({
    name: `${name}: bytes / alone`,
    value: beside.bytesPerSec / alone.bytesPerSec,
    unit: 'ratio',
    target: '>= 0.97',
  });
  report({ name: `${name}: longest pause`, value: beside.longestMs, unit: 'ms', target: '<= 500' });
  report({ name: 'the same alone', value: alone.longestMs, unit: 'ms', target: '<= 500' });
}

if (NO_NGINX_RTMP !== false) process.stdout.write(`nothing is measured: ${NO_NGINX_RTMP}\n`);
else {
  const dir = await mkdtemp(join(tmpdir(), 'bench-restreams-'));
  try {
    cacheDir = join(dir, 'compiled');
    encodeSource(join(dir, 'source.flv'));
    const far = await startNginxRtmp(scope);
    const publish = await startIngest(join(dir, 'source.flv'));
    await comeBack(publish);
    await undisturbed(far, publish);
    await compare(far, publish);
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup();
    await rm(dir, { recursive: true, force: true });
  }
}
