import type { Logger } from '../../platform/logger.ts';

export interface LeaseLoopOptions<T> {
  ask(): Promise<readonly T[]>;
  /** Starts, changes and ends what runs here. */
  apply(wanted: readonly T[]): void;
  /** How long what was told last holds without an answer. */
  leaseMs: number;
  /** For the log: what is asked for. */
  what: string;
  log: Logger;
}

/** Nobody may take over while something of ours is still under way. */
const LEASE_MARGIN_MS = 5000;

/**
 * Asks what this node is to run, and applies it. While there is no answer, what was told last goes on for as long as
 * this node's lease.
 */
export class LeaseLoop<T> {
  readonly #options: LeaseLoopOptions<T>;
  #asking: Promise<void> | null = null;
  #askAgain = false;
  #answeredMs = performance.now();
  #stopped = false;

  constructor(options: LeaseLoopOptions<T>) {
    this.#options = options;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /** One question at a time; a call during one is answered by the next. Never rejects. */
  sync(): Promise<void> {
    if (this.#asking !== null) {
      this.#askAgain = true;
      return this.#asking;
    }
    this.#asking = this.#ask().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  /** Ends all that runs; nothing is applied from here on. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#options.apply([]);
    await this.#asking;
  }

  async #ask(): Promise<void> {
    const { ask, apply, leaseMs, what, log } = this.#options;
    do {
      this.#askAgain = false;
      const askedMs = performance.now();
      try {
        const wanted = await ask();
        this.#answeredMs = askedMs;
        if (!this.#stopped) apply(wanted);
      } catch (error) {
        log.warn({ err: error }, `${what} could not be read`);
        // Another node may have been told the same by now.
        if (performance.now() - this.#answeredMs > leaseMs - LEASE_MARGIN_MS) apply([]);
      }
    } while (this.#askAgain && !this.#stopped);
  }
}
