import { hash } from 'node:crypto';
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import { DAY_MS, QUARTER_MS } from '../kernel/durations.ts';
import type { DurableWindows } from './durable-windows.ts';
import { type Counter, createFixedWindowCounter, type WindowCount } from './fixed-window-counter.ts';
import type { RedisStore } from './redis.ts';

export type { Counter, WindowCount } from './fixed-window-counter.ts';

/**
 * Policy of a shared counter while its store is unavailable. `open`: it answers -1, for limits that must not
 * block requests (docs/concepts/conventions.md#rate-limits). `insured`: it counts in this process, for limits
 * that keep attackers out.
 */
export type StoreOutagePolicy = 'open' | 'insured';

export interface CounterOptions {
  /** Sets its keys apart in the store. */
  name: string;
  /** Length of each key's window, which opens with its first hit; `day` is the UTC day. */
  window: number | 'day';
  withoutStore: StoreOutagePolicy;
}

/** The key of a count, of one size whatever came: a counter remembers many. */
export function counterKey(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

/** Makes counters, one for each name: shared by all nodes in the store, or of this process without one. */
export type CounterFactory = (options: CounterOptions) => Counter;

/** Shortest window that is stored in the database where there is no Redis. */
const MIN_DURABLE_SEC = QUARTER_MS / 1000;

/**
 * Creates the factory of this process.
 *
 * @param nowMs the clock, epoch milliseconds: it decides which day it is.
 * @param durable stores long windows of counters in memory. Default: nothing is stored.
 */
export function counterFactory(
  store: RedisStore | null,
  nowMs: () => number,
  durable: Pick<DurableWindows, 'journal'> | null = null,
): CounterFactory {
  const made = new Map<string, Counter>();
  return (options) => {
    const known = made.get(options.name) ?? createCounter(store, nowMs, durable, options);
    made.set(options.name, known);
    return known;
  };
}

function createCounter(
  store: RedisStore | null,
  nowMs: () => number,
  durable: Pick<DurableWindows, 'journal'> | null,
  { name, window, withoutStore }: CounterOptions,
): Counter {
  if (store === null && durable !== null && isLong(window)) {
    return createFixedWindowCounter(windowMs(window, nowMs), { nowMs, journal: durable.journal(name) });
  }
  const memory = window === 'day' ? memoryDayCounter(nowMs) : memoryCounter(window);
  if (store === null) return memory;
  const fallback = withoutStore === 'insured' ? memory : uncounted(window, nowMs);
  const duration = window === 'day' ? DAY_MS / 1000 : window;
  const limiter = new RateLimiterRedis({
    storeClient: store.client,
    keyPrefix: `marquee:${name}`,
    points: UNLIMITED,
    duration,
  });
  const shared = window === 'day' ? dayCounter(limiter, nowMs) : windowCounter(limiter, duration);
  return {
    hit: async (key) => (await store.attempt(() => shared.hit(key))) ?? fallback.hit(key),
    peek: async (key) => (await store.attempt(() => shared.peek(key))) ?? fallback.peek(key),
  };
}

const isLong = (window: number | 'day') => window === 'day' || window >= MIN_DURABLE_SEC;

/** Returns how long a window that opens now stays open. */
const windowMs = (window: number | 'day', nowMs: () => number) => () =>
  window === 'day' ? DAY_MS - (nowMs() % DAY_MS) : window * 1000;

/** Maximum count: callers compare the count with a limit of their own. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;

/** A counter in the store. */
type StoredCounter = Record<keyof Counter, (key: string) => Promise<WindowCount>>;

type Limiter = Pick<RateLimiterRedis, 'consume' | 'get'>;

/**
 * A counter in this process's memory.
 *
 * @param windowSec length of each key's window, which opens with its first hit.
 */
export function memoryCounter(windowSec: number): Counter {
  return createFixedWindowCounter(() => windowSec * 1000);
}

/** A counter whose windows are the UTC days. @param nowMs the clock, epoch milliseconds. */
function memoryDayCounter(nowMs: () => number): Counter {
  return createFixedWindowCounter(windowMs('day', nowMs), { nowMs });
}

function windowCounter(limiter: Limiter, windowSec: number): StoredCounter {
  const toCount = (result: RateLimiterRes | null) => ({
    count: result?.consumedPoints ?? 0,
    resetInMs: result?.msBeforeNext ?? windowSec * 1000,
  });
  return {
    hit: async (key) => toCount(await limiter.consume(key)),
    peek: async (key) => toCount(await limiter.get(key)),
  };
}

function dayCounter(limiter: Limiter, nowMs: () => number): StoredCounter {
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

function uncounted(window: number | 'day', nowMs: () => number): Counter {
  const lengthMs = windowMs(window, nowMs);
  const count = async () => ({ count: -1, resetInMs: lengthMs() });
  return { hit: count, peek: count };
}
