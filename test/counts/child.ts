import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ChildChannel } from '../../src/platform/count-server.ts';

const MAIN = join(import.meta.dirname, 'child-main.ts');

/** Order of a test to a process that counts. */
export interface Order {
  type: 'order';
  act: 'hit' | 'acquire' | 'release' | 'close';
  key: string;
  times: number;
  limit: number;
}

export function isOrder(message: unknown): message is Order {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'order';
}

/** Forked process that counts in this one. */
export interface CountingChild {
  process: ChildProcess;
  /** Returns the counts of concurrent hits. */
  hit(key: string, times: number): Promise<number[]>;
  /** Acquires leases concurrently. @returns how many the process holds. */
  acquire(key: string, times: number, limit: number): Promise<number>;
  /** Releases leases. @returns how many the process holds. */
  release(times: number): Promise<number>;
  /** Releases all leases, as a process that stops does. */
  close(): Promise<void>;
  kill(): Promise<void>;
}

/** @param attach lets the process count here. */
export async function startCountingChild(attach: (child: ChildChannel) => void): Promise<CountingChild> {
  const child = fork(MAIN, { execArgv: ['--disable-warning=ExperimentalWarning'] });
  attach(child);
  await done(child);
  const order = async (act: Order['act'], rest: Partial<Order> = {}): Promise<number[]> => {
    const message: Order = { type: 'order', act, key: '', times: 0, limit: 0, ...rest };
    child.send(message);
    return done(child);
  };
  const heldAfter = async (result: Promise<number[]>) => (await result)[0] ?? Number.NaN;
  return {
    process: child,
    hit: (key, times) => order('hit', { key, times }),
    acquire: (key, times, limit) => heldAfter(order('acquire', { key, times, limit })),
    release: (times) => heldAfter(order('release', { times })),
    async close() {
      await order('close');
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Waits for the results of an order. */
function done(child: ChildProcess): Promise<number[]> {
  return new Promise((resolve) => {
    const receive = (message: unknown) => {
      if (typeof message !== 'object' || message === null || !('results' in message)) return;
      child.off('message', receive);
      resolve(Array.isArray(message.results) ? message.results.map(Number) : []);
    };
    child.on('message', receive);
  });
}
