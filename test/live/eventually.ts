import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `probe` returns something other than null, undefined or false; throws after `timeoutMs`. */
export async function eventually<T>(
  what: string,
  probe: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  timeoutMs = 60_000,
): Promise<T> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (value !== null && value !== undefined && value !== false) return value;
    if (performance.now() > deadlineMs) throw new Error(`timed out waiting: ${what}`);
    await sleep(25);
  }
}
