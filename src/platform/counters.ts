import { hash } from 'node:crypto';
import { DAY_MS, QUARTER_MS } from '../kernel/durations.ts';
import type { DurableWindows } from './durable-windows.ts';
import {
  type Counter,
  createFixedWindowCounter,
  type MemoryCounter,
  type WindowCount,
} from './fixed-window-counter.ts';

export type { Counter, WindowCount } from './fixed-window-counter.ts';

/**
 * Policy of a shared counter while its store is unavailable. `open`: it answers -1, for limits that must not
 * block requests (docs/concepts/conventions.md#rate-limits). `insured`: it counts in this process, for limits
 * that keep attackers out.
 */
export type StoreOutagePolicy = 'open' | 'insured';

/** Length of each key's window, which opens with its first hit, in seconds; `day` is the UTC day. */
export type WindowLength = number | 'day';

export interface CounterOptions {
  /** Sets its keys apart in the store. */
  name: string;
  window: WindowLength;
  withoutStore: StoreOutagePolicy;
}

/** Counters that several processes share. */
export interface CounterStore {
  counter(options: Pick<CounterOptions, 'name' | 'window'>): StoredCounter;
}

/** A counter in a store. Its methods return null while the store is unavailable. */
export interface StoredCounter {
  hit(key: string): Promise<WindowCount | null>;
  peek(key: string): Promise<WindowCount | null>;
}

/** The key of a count, of one size whatever came: a counter remembers many. */
export function counterKey(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

/** Makes counters, one for each name: shared by all processes of the store, or of this process without one. */
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
  store: CounterStore | null,
  nowMs: () => number,
  durable: Pick<DurableWindows, 'journal'> | null = null,
): CounterFactory {
  if (store === null) return memoryCounters(nowMs, durable);
  return oncePerName((options) => storedCounter(store, options, nowMs));
}

/** Creates the factory of counters in the memory of this process. The parameters are those of `counterFactory`. */
export function memoryCounters(
  nowMs: () => number,
  durable: Pick<DurableWindows, 'journal'> | null = null,
): (options: Pick<CounterOptions, 'name' | 'window'>) => MemoryCounter {
  return oncePerName(({ name, window }) => {
    if (durable !== null && isLong(window))
      return createFixedWindowCounter(windowMs(window, nowMs), { nowMs, journal: durable.journal(name) });
    return window === 'day' ? memoryDayCounter(nowMs) : memoryCounter(window);
  });
}

function oncePerName<O extends { name: string }, T>(create: (options: O) => T): (options: O) => T {
  const created = new Map<string, T>();
  return (options) => {
    const counter = created.get(options.name) ?? create(options);
    created.set(options.name, counter);
    return counter;
  };
}

function storedCounter(
  store: CounterStore,
  { name, window, withoutStore }: CounterOptions,
  nowMs: () => number,
): Counter {
  const stored = store.counter({ name, window });
  const insurance = window === 'day' ? memoryDayCounter(nowMs) : memoryCounter(window);
  const fallback = withoutStore === 'insured' ? insurance : uncounted(window, nowMs);
  return {
    hit: async (key) => (await stored.hit(key)) ?? fallback.hit(key),
    peek: async (key) => (await stored.peek(key)) ?? fallback.peek(key),
  };
}

const isLong = (window: WindowLength) => window === 'day' || window >= MIN_DURABLE_SEC;

/** Returns how long a window that opens now stays open. */
const windowMs = (window: WindowLength, nowMs: () => number) => () =>
  window === 'day' ? DAY_MS - (nowMs() % DAY_MS) : window * 1000;

/**
 * A counter in this process's memory.
 *
 * @param windowSec length of each key's window, which opens with its first hit.
 */
export function memoryCounter(windowSec: number): MemoryCounter {
  return createFixedWindowCounter(() => windowSec * 1000);
}

/** A counter whose windows are the UTC days. @param nowMs the clock, epoch milliseconds. */
function memoryDayCounter(nowMs: () => number): MemoryCounter {
  return createFixedWindowCounter(windowMs('day', nowMs), { nowMs });
}

function uncounted(window: WindowLength, nowMs: () => number): MemoryCounter {
  const lengthMs = windowMs(window, nowMs);
  const count = () => ({ count: -1, resetInMs: lengthMs() });
  return { hit: count, peek: count };
}
