import { memoryCounters, type WindowLength } from './counters.ts';
import type { DurableWindows } from './durable-windows.ts';

/** Operations of one turn of a child's event loop (docs/decisions/rate-limits.md#processes-of-one-machine). */
export interface CountBatch {
  type: 'counts';
  id: number;
  /** All leases that the child holds, after the first process did not respond. */
  held?: LeaseCount[];
  released: LeaseCount[];
  hits: CountOperation[];
  peeks: CountOperation[];
  acquired: LeaseLimit[];
}

export type CountOperation = [name: string, window: WindowLength, key: string];
export type LeaseCount = [key: string, leases: number];
export type LeaseLimit = [key: string, limit: number];

/** Results of a batch, in the order of its operations. */
export interface CountReply {
  type: 'counts';
  id: number;
  hits: CountResult[];
  peeks: CountResult[];
  /** Whether there was a free place. */
  acquired: boolean[];
}

export type CountResult = [count: number, resetInMs: number];

/** Counters and leases of all processes of this machine, in the memory of the first one. */
export interface CountServer {
  /** Registers a process that counts here. */
  open(): CountSession;
}

/** One process that counts in the first process. */
interface CountSession {
  answer(batch: CountBatch): CountReply;
  /** Releases the leases of the process. */
  close(): void;
}

interface Deps {
  /** The clock, epoch milliseconds. */
  nowMs(): number;
  /** Stores long windows. Default: nothing is stored. */
  durable?: Pick<DurableWindows, 'journal'> | null;
}

export function createCountServer({ nowMs, durable = null }: Deps): CountServer {
  const counters = memoryCounters(nowMs, durable);
  const total = new Tally();

  const countWith = (method: 'hit' | 'peek', operations: readonly CountOperation[]) =>
    operations.map(([name, window, key]): CountResult => {
      const { count, resetInMs } = counters({ name, window })[method](key);
      return [count, resetInMs];
    });
  return {
    open() {
      const own = new Tally();
      const add = (key: string, leases: number) => {
        own.add(key, leases);
        total.add(key, leases);
      };
      const releaseAll = () => {
        for (const [key, leases] of own.entries()) add(key, -leases);
      };
      const acquire = ([key, limit]: LeaseLimit) => {
        if (total.of(key) >= limit) return false;
        add(key, 1);
        return true;
      };
      return {
        answer({ id, held, released, hits, peeks, acquired }) {
          if (held !== undefined) {
            releaseAll();
            for (const [key, leases] of held) add(key, leases);
          }
          for (const [key, leases] of released) add(key, -Math.min(leases, own.of(key)));
          return {
            type: 'counts',
            id,
            hits: countWith('hit', hits),
            peeks: countWith('peek', peeks),
            acquired: acquired.map(acquire),
          };
        },
        close: releaseAll,
      };
    },
  };
}

/** A forked process, such as a `ChildProcess` or the `process` of a cluster worker. */
export interface ChildChannel {
  send(message: object, callback: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'exit', listener: () => void): unknown;
  off(event: 'message', listener: (message: unknown) => void): unknown;
}

/** Lets a forked process count in this one until it ends, which releases its leases. */
export function attachCountServer(server: CountServer, child: ChildChannel): void {
  const session = server.open();
  const receive = (message: unknown) => {
    // Sending fails when the process has ended, and then needs no handling.
    if (isBatch(message)) child.send(session.answer(message), () => {});
  };
  child.on('message', receive);
  child.on('exit', () => {
    child.off('message', receive);
    session.close();
  });
}

/** The processes of a tree run one version of the program, so the type of a message determines its fields. */
function isBatch(message: unknown): message is CountBatch {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'counts';
}

/** Numbers of leases by key; zeros are not stored. */
class Tally {
  readonly #counts = new Map<string, number>();

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  add(key: string, leases: number): void {
    const count = this.of(key) + leases;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }

  entries(): [string, number][] {
    return [...this.#counts];
  }
}
