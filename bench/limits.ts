import { randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import autocannon from 'autocannon';
import { Agent, request } from 'undici';
import { createContainer } from '../src/main/container.ts';
import { loadConfig } from '../src/platform/config.ts';
import { readEmbeddedUrl } from '../src/platform/db/embedded.ts';
import { type RunningPlatform, startPlatform, unlimitedHeaders } from '../test/harness/platform.ts';
import { redisProgram, startTestRedis } from '../test/harness/redis.ts';
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

/** What a process remembers of keys: who they are, and their counts of the minute and the day. */
async function activeKeys({ dataDir }: RunningPlatform): Promise<void> {
  const databaseUrl = readEmbeddedUrl(dataDir);
  if (databaseUrl === null) throw new Error('the platform has no database');
  const config = loadConfig({ DATA_DIR: dataDir, LOG_LEVEL: 'silent' });
  const secretKey = Buffer.alloc(32);
  const container = await createContainer({ config, databaseUrl, secretKey, name: 'bench' });
  const { apiKeys, counters } = container;
  const keys: string[] = [];
  while (keys.length < KEYS) {
    const batch = Array.from({ length: 100 }, () =>
      apiKeys.create({ email: 'owner@marquee.localhost', scope: 'STANDARD', dailyQuota: 1000 }),
    );
    keys.push(...(await Promise.all(batch)).map(({ key }) => key));
  }
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
  await activeKeys(platform);
} finally {
  await platform.stop();
  await agent.destroy();
}
