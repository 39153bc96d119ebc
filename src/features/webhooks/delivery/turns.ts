import { setTimeout as sleep } from 'node:timers/promises';

/** How long an attempt waits for the one before it to end. */
const PATIENCE_MS = 100;

interface Turn {
  /** Resolves when the attempt may begin. */
  begin: Promise<void>;
  end(): void;
}

/**
 * No order is promised, but events that follow each other closely should not overtake for no reason: an
 * attempt begins when the one before it at the same webhook has ended, or has taken longer than a healthy
 * receiver does. A webhook that is slow is delivered to side by side as before.
 */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  next(webhookId: string): Turn {
    const previous = this.#last.get(webhookId);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last.set(webhookId, promise);
    const begin =
      previous === undefined
        ? Promise.resolve()
        : Promise.race([previous, sleep(PATIENCE_MS, undefined, { ref: false })]);
    return {
      begin,
      end: () => {
        resolve();
        if (this.#last.get(webhookId) === promise) this.#last.delete(webhookId);
      },
    };
  }
}
