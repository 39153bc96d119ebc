import { Store, useStore } from './store.ts';

const RETRY_MS = 2000;
const HEALTH = '/api/v1/health';

/** Whether the API was unavailable at the last request; while it is, it is polled every two seconds. */
const away = new Store(false);
const returned = new Set<() => void>();
let timer: ReturnType<typeof setTimeout> | undefined;

export function useIsOffline(): boolean {
  return useStore(away);
}

/** Registers a listener for when the API is available again. */
export function onReconnect(listener: () => void): void {
  returned.add(listener);
}

/** Records that a request got no response. */
export function markOffline(): void {
  if (away.get()) return;
  away.set(true);
  timer = setTimeout(retryNow, RETRY_MS);
}

/** Records that a request got a response. */
export function markOnline(): void {
  if (!away.get()) return;
  clearTimeout(timer);
  away.set(false);
  for (const listener of returned) listener();
}

/** Checks the server immediately, and keeps checking until it responds. */
export async function retryNow(): Promise<void> {
  clearTimeout(timer);
  if (!(await isServerReachable())) timer = setTimeout(retryNow, RETRY_MS);
}

/** Reports whether the server responds now, and updates the banner. */
export async function isServerReachable(): Promise<boolean> {
  const found = await fetch(HEALTH, { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (found) markOnline();
  else markOffline();
  return found;
}
