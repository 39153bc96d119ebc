import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';

/** One count of a fixed window. */
export interface WindowCount {
  /** Hits in the window, this one included. */
  count: number;
  /** Milliseconds until the window closes. */
  resetInMs: number;
}

/** Counts hits of a key in fixed windows; refused hits count too. */
export interface Counter {
  hit(key: string): Promise<WindowCount>;
}

/**
 * A counter in this process's memory.
 *
 * @param windowSec length of each key's window, which opens with its first hit.
 */
export function memoryCounter(windowSec: number): Counter {
  const limiter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: windowSec });
  return {
    async hit(key) {
      const result = await limiter.consume(key);
      return { count: result.consumedPoints, resetInMs: result.msBeforeNext };
    },
  };
}

const DAY_MS = 86_400_000;

/** A counter whose windows are the UTC days (contract 8.1). @param nowMs the clock, epoch milliseconds. */
export function memoryDayCounter(nowMs: () => number): Counter {
  const limiter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: DAY_MS / 1000 });
  return {
    async hit(key) {
      const now = nowMs();
      const day = Math.floor(now / DAY_MS);
      const result: RateLimiterRes = await limiter.consume(`${day}:${key}`);
      return { count: result.consumedPoints, resetInMs: (day + 1) * DAY_MS - now };
    },
  };
}
