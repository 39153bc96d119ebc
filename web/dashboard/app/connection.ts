import { Store, useStore } from './store.ts';

const RETRY_MS = 2000;
const HEALTH = '/api/v1/health';

/** Whether the API was away at the last try; while it is, it is asked every two seconds. */
const away = new Store(false);
const returned = new Set<() => void>();
let timer: ReturnType<typeof setTimeout> | undefined;

export function useIsOffline(): boolean {
  return useStore(away);
}

/** Runs when the API answers again. */
export function onReconnect(listener: () => void): void {
  returned.add(listener);
}

/** A request had no answer. */
export function markOffline(): void {
  if (away.get()) return;
  away.set(true);
  timer = setTimeout(retryNow, RETRY_MS);
}

/** A request had an answer. */
export function markOnline(): void {
  if (!away.get()) return;
  clearTimeout(timer);
  away.set(false);
  for (const listener of returned) listener();
}

/** Asks at once, and goes on asking while there is no answer. */
export async function retryNow(): Promise<void> {
  clearTimeout(timer);
  if (!(await isServerReachable())) timer = setTimeout(retryNow, RETRY_MS);
}

/** Whether the server answers now; the banner follows. */
export async function isServerReachable(): Promise<boolean> {
  const found = await fetch(HEALTH, { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (found) markOnline();
  else markOffline();
  return found;
}
