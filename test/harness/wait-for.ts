import { setTimeout as sleep } from 'node:timers/promises';

interface UntilOptions {
  /** Maximum time on an idle machine; default 5000. */
  timeoutMs?: number;
  /** Pause between two checks. Default: grows from {@link MIN_PAUSE_MS} to {@link MAX_PAUSE_MS}. */
  intervalMs?: number;
  /** Name of the condition; a function is called when the time is up. */
  message?: string | (() => string);
}

/**
 * Factor of the time limit: fulfilled conditions are seen immediately, and a busy machine needs more time.
 */
const PATIENCE = 3;
const MIN_PAUSE_MS = 10;
/** Pause of long waits, most of whose checks are requests to a server. */
const MAX_PAUSE_MS = 100;
/** Factor by which the pause grows after each check. */
const PAUSE_GROWTH = 1.2;

type Falsy = false | null | undefined | 0 | '';

/** Waits until `look` returns a truthy value and returns it. A call that throws counts as "not yet". */
export async function waitFor<T>(
  look: () => T | Promise<T>,
  options: UntilOptions = {},
): Promise<Exclude<T, Falsy>> {
  const { timeoutMs = 5000, intervalMs, message = 'the condition' } = options;
  const deadline = performance.now() + timeoutMs * PATIENCE;
  let cause: unknown;
  let pauseMs = intervalMs ?? MIN_PAUSE_MS;
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
    await sleep(pauseMs);
    if (intervalMs === undefined) pauseMs = Math.min(pauseMs * PAUSE_GROWTH, MAX_PAUSE_MS);
  }
}

function truthy<T>(value: T): value is Exclude<T, Falsy> {
  return Boolean(value);
}
