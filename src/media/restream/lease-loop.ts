import type { Logger } from '../../platform/logger.ts';

export interface LeaseLoopOptions<T> {
  ask(): Promise<readonly T[]>;
  /** Starts, changes and ends what runs here. */
  apply(wanted: readonly T[]): void;
  /** Time for which the last known state applies without a response. */
  leaseMs: number;
  /** Name of the requested state, for the log. */
  what: string;
  log: Logger;
}

/**
 * Time before the end of the lease at which work stops, so that another node takes over only after it has
 * ended.
 */
const LEASE_MARGIN_MS = 5000;

/**
 * Loop that reads the desired state of this node and applies it. While the database does not respond, the
 * last known state continues for the duration of this node's lease.
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

  /** Runs one query at a time; a call during one is served by the next. Never rejects; idle once stopped. */
  sync(): Promise<void> {
    if (this.#stopped) return this.#asking ?? Promise.resolve();
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
        // The work may have been assigned to another node by now.
        if (performance.now() - this.#answeredMs > leaseMs - LEASE_MARGIN_MS) apply([]);
      }
    } while (this.#askAgain && !this.#stopped);
  }
}
