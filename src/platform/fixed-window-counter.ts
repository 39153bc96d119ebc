/** One count of a fixed window. */
export interface WindowCount {
  /** Hits in the window, this one included; -1 when they cannot be counted. */
  count: number;
  /** Milliseconds until the window closes. */
  resetInMs: number;
}

/**
 * Counts hits per key in fixed windows, including rejected hits. Returns synchronously when counting in this
 * process.
 */
export interface Counter {
  hit(key: string): WindowCount | Promise<WindowCount>;
  /** Returns the current count, without a hit. */
  peek(key: string): WindowCount | Promise<WindowCount>;
}

/** A counter in the memory of this process. */
export interface MemoryCounter {
  hit(key: string): WindowCount;
  peek(key: string): WindowCount;
}

/** Keys that one counter remembers at most: some 20 MB. */
export const MAX_KEYS = 100_000;

export interface Window {
  count: number;
  endsAtMs: number;
}

/** Follows the windows of a counter, so that they outlive the process. */
export interface WindowJournal {
  /** Returns the window that an earlier process stored for a key that is not in memory. */
  find(key: string): Window | undefined;
  /** Records a hit that `window` already counts. */
  record(key: string, window: Window): void;
  /** Discards the record of a key that is no longer in memory. */
  discard(key: string): void;
}

interface MemoryWindowOptions {
  maxKeys?: number;
  nowMs?: () => number;
  journal?: WindowJournal | undefined;
}

/**
 * Whole milliseconds: with fractions, the time left of a new window could slightly exceed the window length.
 */
const wholeMs = () => Math.floor(performance.now());

/**
 * Counts hits in fixed windows in this process's memory. Beyond `maxKeys` the window that opened first is
 * dropped, so that a client with ever new keys costs no memory: callers limit the hits of a single address.
 *
 * @param windowMs returns the length of a window that opens now.
 * @param nowMs returns milliseconds; with a journal, since the epoch.
 */
export function createFixedWindowCounter(
  windowMs: () => number,
  { maxKeys = MAX_KEYS, nowMs = wholeMs, journal }: MemoryWindowOptions = {},
): MemoryCounter & { readonly size: number } {
  const windows = new Map<string, Window>();
  /** Windows are ordered by opening, which is roughly the order in which they close. */
  const makeRoom = (now: number) => {
    for (const [key, { endsAtMs }] of windows) {
      if (endsAtMs > now && windows.size < maxKeys) return;
      windows.delete(key);
      journal?.discard(key);
    }
  };
  const restore = (key: string, now: number): Window | undefined => {
    const window = journal?.find(key);
    if (window === undefined) return undefined;
    makeRoom(now);
    windows.set(key, window);
    return window;
  };
  const open = (key: string, now: number): Window | undefined => {
    const window = windows.get(key) ?? restore(key, now);
    if (window === undefined || window.endsAtMs <= now) return undefined;
    // A window that ends later than one that opens now is from before the clock was set back.
    return window.endsAtMs - now <= windowMs() ? window : undefined;
  };
  const countOf = ({ count, endsAtMs }: Window, now: number): WindowCount => ({
    count,
    resetInMs: endsAtMs - now,
  });
  return {
    hit(key) {
      const now = nowMs();
      const known = open(key, now);
      if (known !== undefined) {
        known.count += 1;
        journal?.record(key, known);
        return countOf(known, now);
      }
      windows.delete(key);
      makeRoom(now);
      const window = { count: 1, endsAtMs: now + windowMs() };
      windows.set(key, window);
      journal?.record(key, window);
      return countOf(window, now);
    },
    peek(key) {
      const now = nowMs();
      const known = open(key, now);
      return known === undefined ? { count: 0, resetInMs: windowMs() } : countOf(known, now);
    },
    get size() {
      return windows.size;
    },
  };
}
