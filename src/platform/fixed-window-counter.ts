/** One count of a fixed window. */
export interface WindowCount {
  /** Hits in the window, this one included; -1 when they cannot be counted. */
  count: number;
  /** Milliseconds until the window closes. */
  resetInMs: number;
}

/** Counts hits of a key in fixed windows; refused hits count too. At once where they are counted in this process. */
export interface Counter {
  hit(key: string): WindowCount | Promise<WindowCount>;
  /** The count as it stands, without a hit. */
  peek(key: string): WindowCount | Promise<WindowCount>;
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
  /** Discards what is recorded of a key that is no longer in memory. */
  discard(key: string): void;
}

interface MemoryWindowOptions {
  maxKeys?: number;
  nowMs?: () => number;
  journal?: WindowJournal | undefined;
}

/** Of fractions, what is left of a window that has just opened could be a little more than the whole. */
const wholeMs = () => Math.floor(performance.now());

/**
 * Counts hits in fixed windows in this process's memory. Over `maxKeys` the window that opened first is forgotten,
 * so that whoever hits with ever new keys costs no memory: callers cap what a single address can bring.
 *
 * @param windowMs how long a window that opens now stays open.
 * @param nowMs milliseconds, and where there is a journal, since the epoch.
 */
export function createFixedWindowCounter(
  windowMs: () => number,
  { maxKeys = MAX_KEYS, nowMs = wholeMs, journal }: MemoryWindowOptions = {},
): Counter & { readonly size: number } {
  const windows = new Map<string, Window>();
  /** Windows stand in the order in which they opened, which is about the order in which they close. */
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
