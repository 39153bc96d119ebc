import { setTimeout as sleep } from 'node:timers/promises';

interface UntilOptions {
  /** Maximum time on an idle machine; default 5000. */
  timeoutMs?: number;
  /** Pause between two checks, default 10. */
  intervalMs?: number;
  /** Name of the condition; a function is called when the time is up. */
  message?: string | (() => string);
}

/**
 * Factor of the time limit: fulfilled conditions are seen immediately, and a busy machine needs more time.
 */
const PATIENCE = 3;

type Falsy = false | null | undefined | 0 | '';

/** Waits until `look` returns a truthy value and returns it. A call that throws counts as "not yet". */
export async function waitFor<T>(
  look: () => T | Promise<T>,
  options: UntilOptions = {},
): Promise<Exclude<T, Falsy>> {
  const { timeoutMs = 5000, intervalMs = 10, message = 'the condition' } = options;
  const deadline = performance.now() + timeoutMs * PATIENCE;
  let cause: unknown;
  for (;;) {
    try {
      const found = await look();
      if (truthy(found)) return found;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (performance.now() >= deadline) {
      const what = typeof message === 'string' ? message : message();
      throw new Error(`waited ${timeoutMs * PATIENCE} ms in vain for: ${what}`, { cause });
    }
    await sleep(intervalMs);
  }
}

function truthy<T>(value: T): value is Exclude<T, Falsy> {
  return Boolean(value);
}
