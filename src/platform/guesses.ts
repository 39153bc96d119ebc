import { addressBlock } from '../kernel/address.ts';
import { type Counter, counterKey, type WindowCount } from './counters.ts';

/**
 * The budget of wrong secrets that an address may present (docs/decisions/limits.md#guessed-secrets). Secrets that
 * were right in this process before pass in any case: whoever shares an address with a guesser goes on working.
 */
export interface Guesses {
  /**
   * @param secret a hash of what was presented.
   * @returns null when it may be looked up, else when the budget opens anew.
   */
  refusal(ip: string, secret: string): Promise<WindowCount | null>;
  /** It was right. */
  right(secret: string): void;
  /** There is none like it. */
  wrong(ip: string): Promise<void>;
}

/** Wrong secrets of one address in a window of the counter. */
export const GUESSES_PER_WINDOW = 60;
/** Secrets that are remembered as right; some 3 MB. */
const REMEMBERED = 20_000;

/** @param kind keeps the budgets of different secrets apart. */
export function createGuesses(counter: Counter, kind: string): Guesses {
  const known = new Set<string>();
  const keyOf = (ip: string) => counterKey(`guess:${kind}:${addressBlock(ip)}`);
  return {
    async refusal(ip, secret) {
      if (known.has(secret)) return null;
      const window = await counter.peek(keyOf(ip));
      return window.count >= GUESSES_PER_WINDOW ? window : null;
    },
    right(secret) {
      if (known.size >= REMEMBERED) known.clear();
      known.add(secret);
    },
    async wrong(ip) {
      await counter.hit(keyOf(ip));
    },
  };
}
