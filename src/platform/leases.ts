import { randomUUID } from 'node:crypto';
import type { RedisStore } from './redis.ts';

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

const LEASE_SEC = 45;
/** Renewal interval: two renewals may fail before the leases of a running process expire. */
const RENEW_MS = (LEASE_SEC * 1000) / 3;

// A sorted set for each key: the lease and when it ends, by the store's clock, which all nodes share.
const NOW = `local t = redis.call('time') local now = t[1] * 1000 + math.floor(t[2] / 1000)`;
const ACQUIRE = `${NOW}
redis.call('zremrangebyscore', KEYS[1], '-inf', now)
if redis.call('zcard', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('zadd', KEYS[1], now + ARGV[2] * 1000, ARGV[3])
redis.call('expire', KEYS[1], ARGV[2])
return 1`;
const RENEW = `${NOW}
for i = 2, #ARGV do redis.call('zadd', KEYS[1], now + ARGV[1] * 1000, ARGV[i]) end
redis.call('expire', KEYS[1], ARGV[1])
return 1`;

interface LeaseOptions {
  store: RedisStore | null;
  /** Default 15 s. */
  renewMs?: number;
}

/**
 * Leases in this process, and in the store where there is one: those of a process that died end after 45 s.
 * While the store is gone, each process counts its own; when it is back, they are entered again.
 */
export function createLeases({ store, renewMs = RENEW_MS }: LeaseOptions): Leases {
  const held = new Map<string, Set<string>>();
  const storeKey = (key: string) => `marquee:lease:${key}`;

  const drop = (key: string, id: string): boolean => {
    const ids = held.get(key);
    if (ids?.delete(id) !== true) return false;
    if (ids.size === 0) held.delete(key);
    return true;
  };
  const renew = async () => {
    for (const [key, ids] of held) {
      await store?.attempt((client) => client.eval(RENEW, 1, storeKey(key), LEASE_SEC, ...ids));
    }
  };
  const forget = async (key: string, ids: readonly string[]) => {
    await store?.attempt((client) => client.zrem(storeKey(key), ...ids));
  };
  const timer = store === null ? undefined : setInterval(() => void renew(), renewMs);
  timer?.unref();

  return {
    async acquire(key, limit) {
      const ids = held.get(key) ?? new Set();
      if (ids.size >= limit) return null;
      const id = randomUUID();
      // Entered before the store is asked: what asks at the same time here sees it.
      held.set(key, ids.add(id));
      const free = await store?.attempt((client) =>
        client.eval(ACQUIRE, 1, storeKey(key), limit, LEASE_SEC, id),
      );
      if (free === 0) {
        drop(key, id);
        return null;
      }
      return {
        async release() {
          if (drop(key, id)) await forget(key, [id]);
        },
      };
    },
    async close() {
      clearInterval(timer);
      const all = [...held];
      held.clear();
      for (const [key, ids] of all) await forget(key, [...ids]);
    },
  };
}
