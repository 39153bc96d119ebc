import { Store, useStore } from './store.ts';

/** Rate limits reported by the headers of the last response. */
export interface RateLimits {
  minute: { limit: number; remaining: number; resetAt: Date } | null;
  day: { limit: number; remaining: number; resetAt: Date } | null;
}

const store = new Store<RateLimits>({ minute: null, day: null });

export function useRateLimits(): RateLimits {
  return useStore(store);
}

export function recordRateLimits(headers: Headers): void {
  const minute = rateOf(headers, 'X-RateLimit-');
  if (minute !== null) store.set({ minute, day: rateOf(headers, 'X-RateLimit-Daily-') });
}

function rateOf(headers: Headers, prefix: string): RateLimits['minute'] {
  const [limit, remaining, reset] = ['Limit', 'Remaining', 'Reset'].map((name) => headers.get(prefix + name));
  if (!limit || !remaining || !reset) return null;
  return { limit: Number(limit), remaining: Number(remaining), resetAt: new Date(Number(reset) * 1000) };
}
