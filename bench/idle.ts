/**
 * Measures the idle platform, as `npm start` runs it on its embedded database: memory and processor time of
 * all its processes, and the time of a warm start to the first response. Two and a half minutes.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { readEmbeddedUrl } from '../src/platform/db/embedded.ts';
import { freePort, headersOf, OWNER_KEY } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { proportionalMegabytes } from './support/memory.ts';
import { processorSeconds } from './support/processes.ts';
import { median, report } from './support/report.ts';

const ROOT = join(import.meta.dirname, '..');
const isLong = process.argv.includes('long');
const isMany = process.argv.includes('many');
const STARTS = 3;
/** Time after which the garbage collector has released the memory of the start. */
const SETTLE_MS = isLong ? 600_000 : 60_000;
const IDLE_SEC = 15;
const STREAMS = 1000;
const KEYS = 100_000;
/** Number of keys used, in one request each, so that none is cached by the process. */
const ASKED = 1000;

interface Started {
  child: ChildProcess;
  api: string;
  /** Time from the command to the first 200. */
  ms: number;
  /** Processor time of all processes until then. */
  processorMs: number;
  stop(): Promise<void>;
}

interface Costs {
  startMs: number;
  startProcessorMs: number;
  megabytes: number;
  /** Median of requests with keys that are new to the process. */
  authoriseMs: number;
  /** Processor time of all processes per request. */
  authoriseProcessorMs: number;
}

/** Starts the platform by `npm start`; a supervisor or npm is included in the figures. */
async function start(dataDir: string): Promise<Started> {
  const port = await freePort();
  const startedAt = performance.now();
  const child = spawn('npm', ['start', '--silent'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      PORT: String(port),
      RTMP_PORT: String(await freePort()),
      METRICS_PORT: '0',
      BOOTSTRAP_API_KEY: OWNER_KEY,
    },
  });
  const pid = child.pid ?? 0;
  const api = `http://127.0.0.1:${port}/api/v1`;
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  };
  try {
    const answers = async () =>
      child.exitCode !== null || (await fetch(`${api}/changelog/latest`).then(({ ok }) => ok));
    await waitFor(answers, { timeoutMs: 120_000, intervalMs: 10, message: 'the first 200' });
    if (child.exitCode !== null) throw new Error(`npm start has ended with ${child.exitCode}`);
  } catch (error) {
    await stop();
    throw error;
  }
  const ms = performance.now() - startedAt;
  const processorMs = processorSeconds(pid) * 1000;
  return { child, api, ms, processorMs, stop };
}

const total = (pid: number) => proportionalMegabytes(pid).reduce((sum, { megabytes }) => sum + megabytes, 0);

/** Measures several starts, and idling after the last one, to which `look` is applied. */
async function measure(dataDir: string, look: (running: Started) => Promise<void>): Promise<Costs> {
  const starts: Started[] = [];
  for (let n = 1; n < STARTS; n++) {
    const running = await start(dataDir);
    starts.push(running);
    await running.stop();
  }
  const last = await start(dataDir);
  starts.push(last);
  try {
    await sleep(SETTLE_MS);
    const megabytes = total(last.child.pid ?? 0);
    await look(last);
    return {
      startMs: median(starts.map(({ ms }) => ms)),
      startProcessorMs: median(starts.map(({ processorMs }) => processorMs)),
      megabytes,
      ...(await authorise(last)),
    };
  } finally {
    await last.stop();
  }
}

/** Returns the nth key of those inserted by `fill`. */
const keyAt = (n: number) => `pk_${n.toString(16).padStart(40, '0')}`;

/** Measures requests with many different keys, if they exist, otherwise with the owner's key. */
async function authorise({ child, api }: Started) {
  const times: number[] = [];
  const before = processorSeconds(child.pid ?? 0);
  for (let n = 0; n < ASKED; n++) {
    const key = keyAt(n);
    const startedAt = performance.now();
    const { status } = await fetch(`${api}/streams?limit=1`, { headers: headersOf(key) });
    if (status !== 200) throw new Error(`${status} for ${key}`);
    times.push(performance.now() - startedAt);
  }
  const processorMs = ((processorSeconds(child.pid ?? 0) - before) * 1000) / ASKED;
  return { authoriseMs: median(times), authoriseProcessorMs: processorMs };
}

/** Inserts copies of a stream and of the owner's key; the measured requests use the first thousand keys. */
async function fill(dataDir: string, { keys, streams }: { keys: number; streams: number }): Promise<void> {
  const running = await start(dataDir);
  try {
    const body = JSON.stringify({ title: 'Idle' });
    const answer = await fetch(`${running.api}/streams`, {
      method: 'POST',
      headers: headersOf(OWNER_KEY),
      body,
    });
    if (answer.status !== 201) throw new Error(`${answer.status} for a stream`);
    const sql = postgres(readEmbeddedUrl(dataDir) ?? '', { max: 1 });
    await sql`
      insert into api_key
      select (jsonb_populate_record(key, jsonb_build_object('id', 'key_' || lpad(n::text, 26, '0'), 'hash',
        sha256(convert_to('pk_' || lpad(to_hex(n), 40, '0'), 'UTF8')), 'rate_limit_per_minute', 1000000))).*
      from api_key key, generate_series(0, ${keys - 1}::integer) n
      where key.id = (select id from api_key order by created_at limit 1)
      on conflict do nothing`;
    await sql`
      insert into stream
      select (jsonb_populate_record(one, jsonb_build_object('id', 'str_' || lpad(n::text, 26, '0'), 'key_hash',
        sha256(convert_to(n::text, 'UTF8'))))).*
      from stream one, generate_series(1, ${streams}::integer) n
      where one.id = (select id from stream order by created_at limit 1)
      on conflict do nothing`;
    await sql.unsafe('vacuum analyze api_key, stream');
    await sql.end();
  } finally {
    await running.stop();
  }
}

async function reportRest(running: Started): Promise<void> {
  const pid = running.child.pid ?? 0;
  const before = processorSeconds(pid);
  await sleep(IDLE_SEC * 1000);
  const used = ((processorSeconds(pid) - before) / IDLE_SEC) * 100;
  const unit = 'MB proportional set size';
  for (const { name, megabytes } of proportionalMegabytes(pid))
    report({ name: `at rest, ${name}`, value: megabytes, unit, target: '>= 0' });
  report({ name: 'at rest, processor', value: used, unit: '% of a core', target: '<= 5' });
}

function reportRatios(few: Costs, many: Costs): void {
  const ratio = (name: string, key: keyof Costs) => {
    const value = many[key] / few[key];
    report({
      name: `${name} with ${STREAMS} streams and ${KEYS} keys`,
      value,
      unit: 'of what it is with few',
      target: '<= 1.15',
    });
  };
  ratio('start', 'startMs');
  ratio('processor time of a start', 'startProcessorMs');
  ratio('memory at rest', 'megabytes');
  ratio('time to authorise a new key', 'authoriseMs');
  ratio('processor time to authorise a new key', 'authoriseProcessorMs');
}

const folder = await mkdtemp(join(tmpdir(), 'marquee-bench-'));
const dataDir = join(folder, 'data');
try {
  await fill(dataDir, { keys: ASKED, streams: 1 });
  const costs = await measure(dataDir, reportRest);
  const unit = 'MB proportional set size, npm too';
  report({ name: 'at rest, all processes', value: costs.megabytes, unit, target: '<= 300' });
  report({
    name: 'start',
    value: costs.startMs,
    unit: 'ms from npm start to the first 200',
    target: '<= 1500',
  });
  report({
    name: 'start, processor',
    value: costs.startProcessorMs,
    unit: 'ms of all processes to the first 200',
    target: '<= 2000',
  });
  if (isMany) {
    await fill(dataDir, { keys: KEYS, streams: STREAMS });
    reportRatios(costs, await measure(dataDir, async () => {}));
  }
} finally {
  await rm(folder, { recursive: true });
}
