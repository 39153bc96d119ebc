import { tooMany } from '../../kernel/errors.ts';
import { type Counter, counterKey } from '../../platform/counters.ts';

/**
 * Slows down the guessing of one account's password, from however many addresses it comes. It goes by the address
 * that was typed, so it tells nothing of whether there is such an account.
 */
export interface LoginBackoff {
  /** @throws {AppError} RATE_LIMITED: the account has failed often, and was tried a moment ago. */
  admit(email: string): Promise<void>;
  failed(email: string): Promise<void>;
}

const FAILURES = 10;
const FAILURES_SEC = 900;
/** Beyond the failures, one attempt in so many seconds is let through. */
const PAUSE_SEC = 30;

/** @param caps counters by the length of their window, in seconds. */
export function createLoginBackoff(caps: (windowSec: number) => Counter): LoginBackoff {
  const failures = caps(FAILURES_SEC);
  const attempts = caps(PAUSE_SEC);
  const keyOf = (email: string) => counterKey(`login:account:${email}`);
  return {
    async admit(email) {
      const key = keyOf(email);
      if ((await failures.peek(key)).count < FAILURES) return;
      const { count, resetInMs } = await attempts.hit(key);
      if (count > 1) throw tooMany('RATE_LIMITED', resetInMs);
    },
    async failed(email) {
      await failures.hit(keyOf(email));
    },
  };
}
