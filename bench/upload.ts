/**
 * Measures MB/s of a tus upload against a bare Node server that streams to a file on the same disk and syncs
 * it, and the server's memory during a large upload: `node bench/upload.ts`. BENCH_UPLOAD_MB (512) and
 * BENCH_UPLOAD_GB (2, or 20) set the sizes.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { headersOf, OWNER_KEY, type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { median, report } from './support/report.ts';

const MB = 1e6;
const ROUNDS = 3;
const ZEROS = Buffer.alloc(2 ** 20);
const smallBytes = Number(process.env.BENCH_UPLOAD_MB ?? 512) * MB;
const largeBytes = Number(process.env.BENCH_UPLOAD_GB ?? 2) * 1e9;

function* zeros(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= ZEROS.length)
    yield ZEROS.subarray(0, Math.min(left, ZEROS.length));
}

/** Sends zeros in one request. @returns MB/s, including the response. */
async function send(url: string, headers: Record<string, string>, bytes: number): Promise<number> {
  const startedMs = performance.now();
  const sent = request(url, { method: 'PATCH', headers: { ...headers, 'Content-Length': String(bytes) } });
  const answered = once(sent, 'response');
  await pipeline(Readable.from(zeros(bytes), { objectMode: false }), sent);
  const [response] = await answered;
  response.resume();
  if (response.statusCode !== 204) throw new Error(`the server answered ${response.statusCode}`);
  return bytes / MB / ((performance.now() - startedMs) / 1000);
}

async function startBare(folder: string) {
  const child = fork(join(import.meta.dirname, 'support/bare-upload-server.ts'), [folder], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const [port] = await once(child, 'message');
  return { url: `http://127.0.0.1:${port}/`, stop: () => child.disconnect() };
}

async function tusUpload(platform: RunningPlatform, bytes: number): Promise<number> {
  const response = await fetch(`${platform.api}/upload`, {
    method: 'POST',
    headers: headersOf(OWNER_KEY),
    body: JSON.stringify({ filename: 'zeros.mp4', sizeBytes: bytes }),
  });
  const { data } = Object(await response.json());
  const headers = {
    'Tus-Resumable': '1.0.0',
    'Upload-Offset': '0',
    'Content-Type': 'application/offset+octet-stream',
  };
  return send(String(data.uploadUrl), headers, bytes);
}

/** Returns the memory of the process in MB, sampled while `work` runs. */
async function memoryDuring(pid: number, work: Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    samples.push(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1000);
    await Promise.race([done, new Promise((resolve) => setTimeout(resolve, 100))]);
  }
  await done;
  return samples;
}

async function empty(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

const root = await mkdtemp(join(tmpdir(), 'marquee-bench-upload-'));
const platform = await startPlatform({ dataDir: join(root, 'data'), environment: { ROLES: 'api' } });
const bare = await startBare(root);
const stored = join(root, 'data', 'media', 'w');
try {
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const baseline = await send(bare.url, {}, smallBytes);
    await rm(join(root, `bare-${round}`));
    const ours = await tusUpload(platform, smallBytes);
    await empty(stored);
    ratios.push(ours / baseline);
    process.stderr.write(`bare ${baseline.toFixed(0)} MB/s, tus ${ours.toFixed(0)} MB/s\n`);
  }
  report({ name: 'tus upload against a bare server', value: median(ratios), unit: 'x', target: '>= 0.6' });
  const samples = await memoryDuring(platform.process.pid ?? 0, tusUpload(platform, largeBytes));
  // The first tenth warms up.
  const steady = samples.slice(Math.floor(samples.length / 10));
  const growth = Math.max(...steady) - (steady[0] ?? 0);
  const name = `memory during a ${largeBytes / 1e9} GB upload, growth`;
  report({ name, value: growth, unit: 'MB', target: '<= 64' });
  process.stderr.write(
    `memory: ${Math.min(...samples).toFixed(0)} to ${Math.max(...samples).toFixed(0)} MB\n`,
  );
} finally {
  bare.stop();
  await platform.stop();
  await rm(root, { recursive: true, force: true });
}
