import type { Clock } from '../../../kernel/clock.ts';
import type { Bus } from '../../../platform/bus.ts';

/** What has ended is refused on every node within this time even when the hint of it is lost. */
const CACHE_MS = 5_000;
const ENTRIES = 20_000;

/** What was good a moment ago: at most 5 s, and forgotten at a hint that something has changed. */
export interface CredentialCache<T> {
  get(key: string): T | undefined;
  /** @param check null for what is not good: that is not remembered. */
  read(key: string, check: () => Promise<CachedCredential<T> | null>): Promise<T | null>;
}

export interface CachedCredential<T> {
  value: T;
  /** It is good no longer than this, epoch milliseconds. */
  untilMs: number;
}

export interface CredentialCacheDeps {
  clock: Clock;
  bus: Pick<Bus, 'subscribe'>;
  /** Calls it when an account may have changed. */
  onAccountsChanged(listener: () => void): void;
}

/** @param topic of the bus: the hints that make it forget, beside those of accounts. */
export function createCredentialCache<T>(
  { clock, bus, onAccountsChanged }: CredentialCacheDeps,
  topic: string,
): CredentialCache<T> {
  const cache = new Map<string, CachedCredential<T>>();
  // What is being checked while something changes must not be remembered as it was.
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
