import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import autocannon from 'autocannon';
import { Agent, request } from 'undici';
import { type Container, createContainer } from '../src/main/container.ts';
import { loadConfig } from '../src/platform/config.ts';
import { readEmbeddedUrl } from '../src/platform/db/embedded.ts';
import {
  headersOf,
  type RunningPlatform,
  startPlatform,
  unlimitedHeaders,
} from '../test/harness/platform.ts';
import { redisProgram, startTestRedis } from '../test/harness/redis.ts';
import { ownSeconds, processorSeconds } from './support/processes.ts';
import { median, report } from './support/report.ts';

/**
 * Measures the overhead of the request chain's guarantees: counting in Redis against counting in memory,
 * persistent counts against volatile ones, an Idempotency-Key against none, and the memory of 10,000 active
 * API keys. Rounds are interleaved; the median counts.
 */
const ROUNDS = 5;
const SECONDS = 3;
const CONNECTIONS = 32;
const POSTS = 600;
const POSTERS = 8;
const KEYS = 10_000;
/** Keys with a daily quota that call between two writes of the counts. */
const CALLING_KEYS = 1000;
/** Each round has at least one write. */
const STORED_SECONDS = 11;

const agent = new Agent({ connections: 50 });

async function post(
  platform: RunningPlatform,
  headers: Record<string, string>,
  key: string | null,
): Promise<string> {
  const response = await request(`${platform.api}/streams`, {
    dispatcher: agent,
    method: 'POST',
    headers: key === null ? headers : { ...headers, 'idempotency-key': key },
    body: '{"title":"A stream of the benchmark"}',
  });
  const text = await response.body.text();
  if (response.statusCode !== 201) throw new Error(text);
  return text;
}

/** Milliseconds of `POSTS` requests, `POSTERS` at a time. */
async function timePosts(send: (index: number) => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  let next = 0;
  const poster = async () => {
    for (let index = next++; index < POSTS; index = next++) await send(index);
  };
  await Promise.all(Array.from({ length: POSTERS }, poster));
  return performance.now() - begun;
}

async function idempotency(platform: RunningPlatform): Promise<void> {
  const headers = await unlimitedHeaders(platform);
  const fresh: number[] = [];
  const replay: number[] = [];
  const plainMs: number[] = [];
  for (let round = -1; round < ROUNDS; round++) {
    const keys = Array.from({ length: POSTS }, () => randomUUID());
    const plain = await timePosts(() => post(platform, headers, null));
    const first = await timePosts((index) => post(platform, headers, keys[index] ?? null));
    const again = await timePosts((index) => post(platform, headers, keys[index] ?? null));
    // The first round warms up.
    if (round < 0) continue;
    fresh.push(first / plain);
    replay.push(again / plain);
    plainMs.push(plain / POSTS);
  }
  const unit = 'of the time of the same POST without a key';
  report({ name: 'POST /streams with a fresh Idempotency-Key', value: median(fresh), unit, target: '<= 2' });
  report({ name: 'POST /streams that is replayed', value: median(replay), unit, target: '<= 0.5' });
  report({ name: 'POST /streams without a key', value: median(plainMs), unit: 'ms', target: '<= 1000' });
}

async function requestsPerSecond(url: string, headers: Record<string, string>): Promise<number> {
  const result = await autocannon({ url, headers, connections: CONNECTIONS, duration: SECONDS });
  if (result.non2xx > 0) throw new Error(`${result.non2xx} answers of ${url} were not 2xx`);
  return result.requests.average;
}

async function redisAgainstMemory(): Promise<void> {
  if (redisProgram === null) {
    process.stderr.write('skipped: neither valkey-server nor redis-server is installed\n');
    return;
  }
  const redis = await startTestRedis();
  const memory = await startPlatform({ environment: { ROLES: 'api' } });
  const shared = await startPlatform({ environment: { ROLES: 'api', REDIS_URL: redis.url } });
  try {
    const sides = await Promise.all(
      [memory, shared].map(async (platform) => ({ platform, headers: await unlimitedHeaders(platform) })),
    );
    const speeds: number[][] = [[], []];
    for (let round = -1; round < ROUNDS; round++) {
      for (const [side, { platform, headers }] of sides.entries()) {
        const speed = await requestsPerSecond(`${platform.api}/streams?limit=1`, headers);
        if (round >= 0) speeds[side]?.push(speed);
      }
    }
    const ratios = (speeds[1] ?? []).map((speed, round) => speed / (speeds[0]?.[round] ?? Number.NaN));
    const unit = 'of the throughput with memory';
    report({ name: 'The chain with counters in Redis', value: median(ratios), unit, target: '>= 0.6' });
  } finally {
    await shared.stop();
    await memory.stop();
    await redis.close();
  }
}

setFlagsFromString('--expose-gc');
const collectGarbage: unknown = runInNewContext('gc');

function heapMegabytes(): number {
  if (typeof collectGarbage === 'function') collectGarbage();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

function databaseUrlOf({ dataDir }: RunningPlatform): string {
  const url = readEmbeddedUrl(dataDir);
  if (url === null) throw new Error('the platform has no database');
  return url;
}

/** The program in this process, on the database of the platform. */
async function openContainer(platform: RunningPlatform): Promise<Container> {
  const config = loadConfig({ DATA_DIR: platform.dataDir, LOG_LEVEL: 'silent' });
  const databaseUrl = databaseUrlOf(platform);
  return createContainer({ config, databaseUrl, secretKey: Buffer.alloc(32), name: 'bench' });
}

async function createKeys({ apiKeys }: Container, count: number, dailyQuota: number): Promise<string[]> {
  const limits = { dailyQuota, rateLimitPerMinute: 2_000_000_000 };
  const keys: string[] = [];
  while (keys.length < count) {
    const batch = Array.from({ length: 100 }, () =>
      apiKeys.create({ email: 'owner@marquee.localhost', scope: 'STANDARD', ...limits }),
    );
    keys.push(...(await Promise.all(batch)).map(({ key }) => key));
  }
  return keys;
}

interface CountingNode {
  process: ChildProcess;
  url: string;
  speeds: number[];
  /** Microseconds of a processor for each read, of the node and PostgreSQL. */
  costs: number[];
}

async function startCountingNode(platform: RunningPlatform, counts: string): Promise<CountingNode> {
  const child = fork(join(import.meta.dirname, 'support/counting-node.ts'), [
    databaseUrlOf(platform),
    platform.dataDir,
    counts,
  ]);
  const [port] = await once(child, 'message');
  return { process: child, url: `http://127.0.0.1:${port}/api/v1/streams?limit=1`, speeds: [], costs: [] };
}

/** Reads with keys that have a daily quota: each is counted, and each key is a row of each write. */
async function storedAgainstMemory(platform: RunningPlatform): Promise<void> {
  const container = await openContainer(platform);
  const keys = await createKeys(container, CALLING_KEYS, 1_000_000_000);
  await container.close();
  const stored = await startCountingNode(platform, 'stored');
  const memory = await startCountingNode(platform, 'memory');
  const used = ({ pid = 0 }: ChildProcess) => ownSeconds(pid) + processorSeconds(platform.process.pid ?? 0);
  const requests = keys.map((key) => ({ headers: headersOf(key) }));
  const measure = async ({ url, process: child, speeds, costs }: CountingNode, round: number) => {
    const before = used(child);
    const load = { url, requests, connections: CONNECTIONS, duration: STORED_SECONDS };
    const { requests: sent, non2xx } = await autocannon(load);
    if (non2xx > 0) throw new Error(`${non2xx} answers of ${url} were not 2xx`);
    if (round < 0) return;
    speeds.push(sent.average);
    costs.push(((used(child) - before) / sent.total) * 1e6);
  };
  try {
    for (let round = -1; round < ROUNDS; round++) {
      // Alternate the order so that it has no influence.
      const sides = round % 2 === 0 ? [stored, memory] : [memory, stored];
      for (const side of sides) await measure(side, round);
    }
  } finally {
    for (const { process: child } of [stored, memory]) child.disconnect();
  }
  const ratio = (name: 'speeds' | 'costs') =>
    median(stored[name].map((value, round) => value / (memory[name][round] ?? Number.NaN)));
  const subject = `A read with a daily quota whose count is stored, ${CALLING_KEYS} keys`;
  const unit = 'of one whose count is in memory';
  report({ name: subject, value: ratio('speeds'), unit: `${unit}, requests a second`, target: '>= 0.97' });
  report({ name: subject, value: ratio('costs'), unit: `${unit}, processor time`, target: '<= 1.03' });
}

/** Measures the memory per key: its cached identity, and its counts of the minute and the day. */
async function activeKeys(platform: RunningPlatform): Promise<void> {
  const container = await openContainer(platform);
  const { apiKeys, counters } = container;
  const keys = await createKeys(container, KEYS, 1000);
  const perMinute = counters({ name: 'minute', window: 60, withoutStore: 'open' });
  const perDay = counters({ name: 'day', window: 'day', withoutStore: 'open' });
  const before = heapMegabytes();
  for (const key of keys) {
    const { actor } = await apiKeys.verify(key, { ip: '127.0.0.1', origin: undefined });
    await perMinute.hit(actor.id);
    await perDay.hit(actor.id);
  }
  report({
    name: `Memory of ${KEYS} active API keys`,
    value: heapMegabytes() - before,
    unit: 'MB',
    target: '<= 64',
  });
  await container.close();
}

const platform = await startPlatform({ environment: { ROLES: 'api' } });
try {
  await idempotency(platform);
  await redisAgainstMemory();
  await storedAgainstMemory(platform);
  await activeKeys(platform);
} finally {
  await platform.stop();
  await agent.destroy();
}
