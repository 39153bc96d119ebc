import { tooManyRequests } from '../../../kernel/errors.ts';
import { networkBlock } from '../../../kernel/ip-block.ts';
import { type Counter, counterKey } from '../../../platform/counters.ts';

/** Client of a request. */
export interface From {
  ip: string;
}

/** Attempt to sign in or to confirm a password. */
export interface Attempt extends From {
  /** Submitted email address, as `lookupEmail` returns it. */
  email: string;
}

/**
 * Slows down the guessing of one account's password, from however many addresses it comes. It goes by the address
 * that was typed, so it tells nothing of whether there is such an account. Networks that the account has signed in
 * from count by themselves: strangers cannot keep its owner out (docs/decisions/memory-bounds.md#password-guessing).
 */
export interface LoginBackoff {
  /** @throws {AppError} RATE_LIMITED after many failures and a recent attempt. */
  admit(attempt: Attempt): Promise<void>;
  failed(attempt: Attempt): Promise<void>;
}

interface Deps {
  /** Returns counters by window length in seconds. */
  caps(windowSec: number): Counter;
  /** Reports whether the account signed in from the network of the attempt recently. */
  isFamiliar(attempt: Attempt): Promise<boolean>;
}

const FAILURES = 10;
const FAILURES_SEC = 900;
/** Interval of the single attempt that is allowed once an account has too many failures. */
const PAUSE_SEC = 30;

export function createLoginBackoff({ caps, isFamiliar }: Deps): LoginBackoff {
  const failures = caps(FAILURES_SEC);
  const attempts = caps(PAUSE_SEC);
  const everywhere = ({ email }: Attempt) => counterKey(`login:account:${email}`);
  const ofNetwork = ({ email, ip }: Attempt) => counterKey(`login:account:${email}:${networkBlock(ip)}`);
  const isExhausted = async (key: string) => (await failures.peek(key)).count >= FAILURES;
  return {
    async admit(attempt) {
      if (!(await isExhausted(everywhere(attempt)))) return;
      const isOwn = await isFamiliar(attempt);
      if (isOwn && !(await isExhausted(ofNetwork(attempt)))) return;
      const { count, resetInMs } = await attempts.hit(isOwn ? ofNetwork(attempt) : everywhere(attempt));
      if (count > 1) throw tooManyRequests('RATE_LIMITED', resetInMs);
    },
    async failed(attempt) {
      await failures.hit(everywhere(attempt));
      await failures.hit(ofNetwork(attempt));
    },
  };
}
