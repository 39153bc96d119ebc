/** Caches, throttles and limits in the memory of one process. */

/**
 * Returns a function that remembers the results of a pure function. An error is not remembered.
 *
 * @param maxEntries with one more, all are forgotten.
 */
export function memoize<T extends object | string>(
  maxEntries: number,
  read: (key: string) => T,
): (key: string) => T {
  const results = new Map<string, T>();
  return (key) => {
    const cached = results.get(key);
    if (cached !== undefined) return cached;
    const result = read(key);
    if (results.size >= maxEntries) results.clear();
    results.set(key, result);
    return result;
  };
}

/** Returns a function that runs `read` on its first call and shares the result; after a failure it runs it again. */
export function memoizeAsync<T>(read: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | null = null;
  return () => {
    result ??= read().catch((error: unknown) => {
      result = null;
      throw error;
    });
    return result;
  };
}

/** Returns the cached result of `read` for the key, or runs it. */
export type TtlCache<T> = (key: string, read: () => Promise<T>) => Promise<T>;

/** Creates a cache of results for `ttlMs`. @param maxEntries with one more, all are forgotten. */
export function createTtlCache<T>(ttlMs: number, maxEntries: number): TtlCache<T> {
  const entries = new Map<string, { expiresAtMs: number; result: Promise<T> }>();
  return (key, read) => {
    const nowMs = performance.now();
    const entry = entries.get(key);
    if (entry !== undefined && entry.expiresAtMs > nowMs) return entry.result;
    if (entries.size >= maxEntries) entries.clear();
    const result = read();
    entries.set(key, { expiresAtMs: nowMs + ttlMs, result });
    result.catch(() => entries.delete(key));
    return result;
  };
}

interface IdleCacheOptions<T> {
  /** Time without use after which a value is removed, after at most twice that. */
  idleTtlMs: number;
  sizeOf: (value: T) => number;
  /** Size of all values together; beyond it the least recently used are removed. */
  maxTotalSize: number;
}

/** Creates a cache that holds one value per key, which may grow, while it is used. */
export function createIdleCache<T>(
  make: () => T,
  { idleTtlMs, sizeOf, maxTotalSize }: IdleCacheOptions<T>,
): (key: string) => T {
  /** Least recently used first. */
  const entries = new Map<string, { value: T; isUsed: boolean }>();
  let timer: NodeJS.Timeout | undefined;
  const shrink = () => {
    let totalSize = 0;
    for (const [key, { value }] of [...entries].reverse()) {
      totalSize += sizeOf(value);
      if (totalSize > maxTotalSize) entries.delete(key);
    }
  };
  const sweep = () => {
    for (const [key, entry] of entries) {
      if (!entry.isUsed) entries.delete(key);
      entry.isUsed = false;
    }
    shrink();
    if (entries.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return (key) => {
    const cached = entries.get(key);
    if (cached === undefined) shrink();
    const entry = cached ?? { value: make(), isUsed: true };
    entry.isUsed = true;
    entries.delete(key);
    entries.set(key, entry);
    timer ??= setInterval(sweep, idleTtlMs).unref();
    return entry.value;
  };
}

/** Returns a function that runs `act` immediately and then at most once per interval; calls in between do nothing. */
export function throttle(act: () => void, intervalMs: number): () => void {
  let lastRunMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - lastRunMs < intervalMs) return;
    lastRunMs = performance.now();
    act();
  };
}

/** Limits the number of concurrently open operations in this process. */
export interface ConcurrencyLimiter {
  /** Returns the function that releases the slot; null when there is no free slot. */
  acquire(key: string): (() => void) | null;
}

/** Creates a limiter. @param limits slots of all keys together, and of each. */
export function createConcurrencyLimiter(limits: { all: number; each: number }): ConcurrencyLimiter {
  const open = new Map<string, number>();
  let total = 0;
  return {
    acquire(key) {
      const ofKey = open.get(key) ?? 0;
      if (total >= limits.all || ofKey >= limits.each) return null;
      open.set(key, ofKey + 1);
      total += 1;
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        const left = (open.get(key) ?? 1) - 1;
        if (left === 0) open.delete(key);
        else open.set(key, left);
        total -= 1;
      };
    },
  };
}
