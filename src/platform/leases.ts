import { randomUUID } from 'node:crypto';

/** One place of a key, held until it is released. */
export interface ConcurrencyLease {
  release(): Promise<void>;
}

/**
 * Limits concurrent use, such as the open event streams of an API key
 * (docs/concepts/conventions.md#rate-limits).
 */
export interface Leases {
  /** @returns null when `limit` leases of the key are held already. */
  acquire(key: string, limit: number): Promise<ConcurrencyLease | null>;
  /** Releases every lease of this process. */
  close(): Promise<void>;
}

/** IDs of the leases that this process holds, by key. */
export type HeldLeases = ReadonlyMap<string, ReadonlySet<string>>;

/** Leases that several processes share. */
export interface LeaseStore {
  /** @returns whether one of `limit` places was free; null while the store is unavailable. */
  acquire(key: string, limit: number, id: string): Promise<boolean | null>;
  release(key: string, ids: readonly string[]): Promise<void>;
  /** Holds the leases of this process in the store, and enters them again after an outage, until `stop`. */
  keep(held: HeldLeases): { stop(): void };
}

/**
 * Creates the leases of this process, which are also in the store if there is one. While the store is unavailable,
 * each process counts its own.
 */
export function createLeases(store: LeaseStore | null): Leases {
  const held = new Map<string, Set<string>>();

  const drop = (key: string, id: string): boolean => {
    const ids = held.get(key);
    if (ids?.delete(id) !== true) return false;
    if (ids.size === 0) held.delete(key);
    return true;
  };
  const keeper = store?.keep(held);

  return {
    async acquire(key, limit) {
      const ids = held.get(key) ?? new Set();
      if (ids.size >= limit) return null;
      const id = randomUUID();
      // Entered before the store is asked, so that concurrent calls in this process see it.
      held.set(key, ids.add(id));
      if ((await store?.acquire(key, limit, id)) === false) {
        drop(key, id);
        return null;
      }
      return {
        async release() {
          if (drop(key, id)) await store?.release(key, [id]);
        },
      };
    },
    async close() {
      keeper?.stop();
      const all = [...held];
      held.clear();
      await Promise.all(all.map(([key, ids]) => store?.release(key, [...ids])));
    },
  };
}
