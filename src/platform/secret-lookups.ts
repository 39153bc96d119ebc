import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Protects the database from guessed secrets: guessing costs one statement at a time, regardless of the
 * number of clients, and an existing secret waits for at most two of them
 * (docs/decisions/memory-bounds.md#guessed-secrets).
 */
export interface SecretLookups {
  /**
   * Reports whether the secret exists.
   *
   * @param secret a hash of the presented secret, in base64.
   */
  exists(secret: string): Promise<boolean>;
  /** Clears the cached results: a secret may exist now. */
  forget(): void;
}

interface Options {
  /** Returns those of the hashes that exist. */
  read(secrets: readonly string[]): Promise<readonly string[]>;
  /** Time for which results are cached. */
  rememberedMs?: { found: number; missing: number };
  /** Answers that are remembered, some 3 MB; with one more, all are dropped. */
  maxEntries?: number;
  /** Secrets of one statement. */
  maxBatch?: number;
}

const REMEMBERED_MS = { found: 60_000, missing: 5000 };

export function createSecretLookups({
  read,
  rememberedMs = REMEMBERED_MS,
  maxEntries = 20_000,
  maxBatch = 1000,
}: Options): SecretLookups {
  // The statement serves several callers: it must not run in the transaction of one of them.
  const outside = AsyncLocalStorage.snapshot();
  const answers = new Map<string, { exists: boolean; until: number }>();
  const waiting = new Map<string, PromiseWithResolvers<boolean>>();
  let isReading = false;
  let generation = 0;

  const remember = (secret: string, exists: boolean) => {
    if (answers.size >= maxEntries) answers.clear();
    const ms = exists ? rememberedMs.found : rememberedMs.missing;
    answers.set(secret, { exists, until: performance.now() + ms });
  };
  const readBatch = async () => {
    const batch = [...waiting].slice(0, maxBatch);
    for (const [secret] of batch) waiting.delete(secret);
    const begun = generation;
    try {
      const found = new Set(await read(batch.map(([secret]) => secret)));
      for (const [secret, { resolve }] of batch) {
        if (begun === generation) remember(secret, found.has(secret));
        resolve(found.has(secret));
      }
    } catch (error) {
      for (const [, { reject }] of batch) reject(error);
    }
  };
  const readAll = async () => {
    isReading = true;
    while (waiting.size > 0) await readBatch();
    isReading = false;
  };

  return {
    async exists(secret) {
      const known = answers.get(secret);
      if (known !== undefined && known.until > performance.now()) return known.exists;
      const pending = waiting.get(secret) ?? Promise.withResolvers<boolean>();
      waiting.set(secret, pending);
      if (!isReading) void outside(readAll);
      return pending.promise;
    },
    forget() {
      generation += 1;
      answers.clear();
    },
  };
}
