import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import autocannon from 'autocannon';
import { Agent, request } from 'undici';
import { createContainer } from '../src/main/container.ts';
import { loadConfig } from '../src/platform/config.ts';
import { readEmbeddedUrl } from '../src/platform/db/embedded.ts';
import { redisProgram, startTestRedis } from '../test/harness/redis.ts';
import { type RunningPlatform, startPlatform, unlimitedHeaders } from './support/platform.ts';
import { median, report } from './support/report.ts';

/**
 * What the request chain pays for its promises: counting in Redis against counting in memory, an
 * Idempotency-Key against none, and the memory of 10,000 active API keys. Rounds are interleaved; the median
 * counts.
 */
const ROUNDS = 5;
const SECONDS = 3;
const CONNECTIONS = 32;
const POSTS = 600;
const POSTERS = 8;
const KEYS = 10_000;

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

async function redisAgainstMemory(memory: RunningPlatform): Promise<void> {
  if (redisProgram === null) {
    process.stderr.write('skipped: neither valkey-server nor redis-server is installed\n');
    return;
  }
  const redis = await startTestRedis();
  const shared = await startPlatform({ ROLES: 'api', REDIS_URL: redis.url });
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
    await redis.close();
  }
}

async function residentMegabytes(platform: RunningPlatform): Promise<number> {
  const status = await readFile(`/proc/${platform.process.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
}

/** @returns so many API keys of the owner, with a daily quota each. */
async function makeKeys(platform: RunningPlatform, count: number): Promise<string[]> {
  const databaseUrl = readEmbeddedUrl(platform.dataDir);
  if (databaseUrl === null) throw new Error('the platform has no database');
  const container = await createContainer({
    config: loadConfig({ DATA_DIR: platform.dataDir, LOG_LEVEL: 'silent' }),
    databaseUrl,
    secretKey: Buffer.alloc(32),
    name: 'bench',
  });
  const email = 'owner@marquee.localhost';
  const keys: string[] = [];
  while (keys.length < count) {
    const batch = Array.from({ length: 100 }, () =>
      container.apiKeys.create({ email, scope: 'STANDARD', dailyQuota: 1000 }),
    );
    keys.push(...(await Promise.all(batch)).map(({ key }) => key));
  }
  await container.close();
  return keys;
}

async function activeKeys(platform: RunningPlatform): Promise<void> {
  const [warm = '', ...keys] = await makeKeys(platform, KEYS + 1);
  const visit = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await request(`${platform.api}/streams?limit=1`, { dispatcher: agent, headers });
    await response.body.dump();
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
  };
  const visitAll = async (visited: readonly string[]) => {
    for (let at = 0; at < visited.length; at += 50) await Promise.all(visited.slice(at, at + 50).map(visit));
  };
  // As many requests of one key first: what remains is what the keys cost.
  await visitAll(keys.map(() => warm));
  const before = await residentMegabytes(platform);
  await visitAll(keys);
  const grown = (await residentMegabytes(platform)) - before;
  report({ name: `Memory of ${KEYS} active API keys`, value: grown, unit: 'MB', target: '<= 64' });
}

const platform = await startPlatform({ ROLES: 'api' });
try {
  await idempotency(platform);
  await redisAgainstMemory(platform);
  await activeKeys(platform);
} finally {
  await platform.stop();
  await agent.destroy();
}
