export interface LoadingCache<T> {
  get(key: string): T | undefined;
  /**
   * Returns the cached value, or loads it once for all concurrent callers. A null result or an error is not
   * cached.
   */
  load(key: string, read: () => Promise<T | null>): Promise<T | null>;
}

/** Creates a cache of the most recently used values, up to the given number of bytes. */
export function createLoadingCache<T>(limitBytes: number, sizeOf: (value: T) => number): LoadingCache<T> {
  const held = new Map<string, T>();
  const loading = new Map<string, Promise<T | null>>();
  let total = 0;

  const keep = (key: string, value: T): void => {
    held.set(key, value);
    total += sizeOf(value);
    for (const [oldest, old] of held) {
      if (total <= limitBytes) break;
      held.delete(oldest);
      total -= sizeOf(old);
    }
  };
  const run = async (key: string, read: () => Promise<T | null>): Promise<T | null> => {
    try {
      const value = await read();
      if (value !== null) keep(key, value);
      return value;
    } finally {
      loading.delete(key);
    }
  };

  return {
    get: (key) => {
      const value = held.get(key);
      if (value === undefined) return undefined;
      held.delete(key);
      held.set(key, value);
      return value;
    },
    load: (key, read) => {
      // Read by another since the caller looked.
      const known = held.get(key);
      if (known !== undefined) return Promise.resolve(known);
      const running = loading.get(key) ?? run(key, read);
      loading.set(key, running);
      return running;
    },
  };
}
