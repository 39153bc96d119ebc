import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import { DAY_MS } from '../kernel/durations.ts';
import type { CounterOptions, CounterStore, StoredCounter, WindowCount } from './counters.ts';
import type { LeaseStore } from './leases.ts';
import type { RedisStore } from './redis.ts';

/** Maximum count: callers compare the count with a limit of their own. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;

/** Creates the counters in Valkey or Redis. @param nowMs the clock, epoch milliseconds. */
export function redisCounters(store: RedisStore, nowMs: () => number): CounterStore {
  return { counter: (options) => createCounter(store, nowMs, options) };
}

function createCounter(
  store: RedisStore,
  nowMs: () => number,
  { name, window }: Pick<CounterOptions, 'name' | 'window'>,
): StoredCounter {
  const duration = window === 'day' ? DAY_MS / 1000 : window;
  const limiter = new RateLimiterRedis({
    storeClient: store.client,
    keyPrefix: `marquee:${name}`,
    points: UNLIMITED,
    duration,
  });
  const counter = window === 'day' ? dayCounter(limiter, nowMs) : windowCounter(limiter, duration);
  return {
    hit: (key) => store.attempt(() => counter.hit(key)),
    peek: (key) => store.attempt(() => counter.peek(key)),
  };
}

type RedisCounter = Record<keyof StoredCounter, (key: string) => Promise<WindowCount>>;

type Limiter = Pick<RateLimiterRedis, 'consume' | 'get'>;

function windowCounter(limiter: Limiter, windowSec: number): RedisCounter {
  const toCount = (result: RateLimiterRes | null) => ({
    count: result?.consumedPoints ?? 0,
    resetInMs: result?.msBeforeNext ?? windowSec * 1000,
  });
  return {
    hit: async (key) => toCount(await limiter.consume(key)),
    peek: async (key) => toCount(await limiter.get(key)),
  };
}

function dayCounter(limiter: Limiter, nowMs: () => number): RedisCounter {
  const today = (key: string) => {
    const now = nowMs();
    const day = Math.floor(now / DAY_MS);
    return { name: `${day}:${key}`, resetInMs: (day + 1) * DAY_MS - now };
  };
  return {
    async hit(key) {
      const { name, resetInMs } = today(key);
      // A key outlives its day by less than a second.
      const options = { customDuration: Math.ceil(resetInMs / 1000) };
      return { count: (await limiter.consume(name, 1, options)).consumedPoints, resetInMs };
    },
    async peek(key) {
      const { name, resetInMs } = today(key);
      return { count: (await limiter.get(name))?.consumedPoints ?? 0, resetInMs };
    },
  };
}

/** Leases of a process that died end after this time. */
const LEASE_SEC = 45;
/** Renewal interval: two renewals may fail before the leases of a running process expire. */
const RENEW_MS = (LEASE_SEC * 1000) / 3;

// A sorted set for each key: the lease and when it ends, by the store's clock, which all nodes share.
const NOW = `local t = redis.call('time') local now = t[1] * 1000 + math.floor(t[2] / 1000)`;
const ACQUIRE = `${NOW}
redis.call('zremrangebyscore', KEYS[1], '-inf', now)
if redis.call('zcard', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('zadd', KEYS[1], now + ARGV[2] * 1000, ARGV[3])
redis.call('expire', KEYS[1], ARGV[2])
return 1`;
const RENEW = `${NOW}
for i = 2, #ARGV do redis.call('zadd', KEYS[1], now + ARGV[1] * 1000, ARGV[i]) end
redis.call('expire', KEYS[1], ARGV[1])
return 1`;

/** Creates the leases in Valkey or Redis. @param renewMs default 15 s. */
export function redisLeases(store: RedisStore, renewMs = RENEW_MS): LeaseStore {
  const storeKey = (key: string) => `marquee:lease:${key}`;
  return {
    async acquire(key, limit, id) {
      const free = await store.attempt((client) =>
        client.eval(ACQUIRE, 1, storeKey(key), limit, LEASE_SEC, id),
      );
      return free === null ? null : free !== 0;
    },
    async release(key, ids) {
      await store.attempt((client) => client.zrem(storeKey(key), ...ids));
    },
    keep(held) {
      const renew = async () => {
        for (const [key, ids] of held)
          await store.attempt((client) => client.eval(RENEW, 1, storeKey(key), LEASE_SEC, ...ids));
      };
      const timer = setInterval(() => void renew(), renewMs).unref();
      return { stop: () => clearInterval(timer) };
    },
  };
}
