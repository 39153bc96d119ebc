import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { AppError } from '../kernel/errors.ts';

/** Argon2id hashing and checking, a few at a time, on the thread pool and never on the event loop. */
export interface Passwords {
  /** @throws {AppError} SERVICE_UNAVAILABLE when too many wait already. */
  hash(password: string): Promise<string>;
  /**
   * Takes the same time whether or not there is something to compare with.
   *
   * @param stored the account's hash, or null where there is no account.
   * @returns `stale`: the hash has other parameters than new ones get.
   * @throws {AppError} SERVICE_UNAVAILABLE when too many wait already.
   */
  verify(password: string, stored: string | null): Promise<{ ok: boolean; stale: boolean }>;
}

interface PasswordOptions {
  /** Maximum concurrent hashes; each takes a thread and `memoryCost` of memory. */
  concurrency?: number;
  /** Maximum waiting callers; the next one is rejected immediately. */
  queueMax?: number;
}

/** OWASP's first choice for argon2id: 19 MiB, two passes, one lane. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const PREFIX = `$argon2id$v=19$m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}$`;
/** No password has this hash, but checking one against it costs as much as against any other. */
const DUMMY = `${PREFIX}${'A'.repeat(22)}$${'A'.repeat(43)}`;
const QUEUE_MAX = 64;

export function createPasswords(options: PasswordOptions = {}): Passwords {
  // The thread pool has four threads, which files and name lookups need too.
  const concurrency = options.concurrency ?? Math.min(3, Math.max(1, availableParallelism() - 1));
  const queueMax = options.queueMax ?? QUEUE_MAX;
  const waiting: (() => void)[] = [];
  let running = 0;

  const exclusive = async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= concurrency) {
      if (waiting.length >= queueMax) {
        throw new AppError('SERVICE_UNAVAILABLE', {
          internal: 'too many password checks are waiting',
        });
      }
      // A finished call passes its slot to the next, so `running` does not change.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running += 1;
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };

  return {
    hash: (password) => exclusive(() => hash(password, PARAMETERS)),
    async verify(password, stored) {
      const usable = stored?.startsWith('$argon2') === true ? stored : null;
      const matches = await exclusive(() => verify(usable ?? DUMMY, password));
      return { ok: matches && usable !== null, stale: usable?.startsWith(PREFIX) === false };
    },
  };
}
