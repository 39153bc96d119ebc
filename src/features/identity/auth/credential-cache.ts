import type { Clock } from '../../../kernel/clock.ts';
import type { Bus } from '../../../platform/bus.ts';

/**
 * Cache lifetime: an ended credential is rejected on every node within this time, even when the notification
 * is lost.
 */
const CACHE_MS = 5_000;
const ENTRIES = 20_000;

/** Cache of valid credentials, for at most 5 s; cleared on notification of a change. */
export interface CredentialCache<T> {
  get(key: string): T | undefined;
  /** @param check returns null for an invalid credential, which is not cached. */
  read(key: string, check: () => Promise<CachedCredential<T> | null>): Promise<T | null>;
}

export interface CachedCredential<T> {
  value: T;
  /** Expiry in epoch milliseconds. */
  untilMs: number;
}

export interface CredentialCacheDeps {
  clock: Clock;
  bus: Pick<Bus, 'subscribe'>;
  /** Registers a listener for possible changes of accounts. */
  onAccountsChanged(listener: () => void): void;
}

/** @param topic bus topic that clears the cache, in addition to account changes. */
export function createCredentialCache<T>(
  { clock, bus, onAccountsChanged }: CredentialCacheDeps,
  topic: string,
): CredentialCache<T> {
  const cache = new Map<string, CachedCredential<T>>();
  // Changes during a check prevent its result from being cached.
  let changes = 0;
  const clear = () => {
    changes += 1;
    cache.clear();
  };
  bus.subscribe(topic, clear);
  onAccountsChanged(clear);
  return {
    get(key) {
      const found = cache.get(key);
      return found !== undefined && found.untilMs > clock.ms() ? found.value : undefined;
    },
    async read(key, check) {
      const seen = changes;
      const checked = await check();
      if (checked === null) return null;
      const { value, untilMs } = checked;
      if (cache.size >= ENTRIES) cache.clear();
      if (seen === changes) cache.set(key, { value, untilMs: Math.min(clock.ms() + CACHE_MS, untilMs) });
      return value;
    },
  };
}
