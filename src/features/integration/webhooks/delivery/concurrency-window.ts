/** Attempts in flight for a webhook that nothing is known of yet, and for one that is slow. */
export const INITIAL_CONCURRENCY = 4;

/** An answer is slow when it takes so many times as long as a good one, and a moment for jitter. */
const SLOW_TIMES = 3;
const SLOW_MORE_MS = 50;
/**
 * A receiver that answers at once is sent a thousand and more a second by a few connections; only one that takes long
 * needs many: one for each two milliseconds, some of which a busy machine adds by itself.
 */
const FAST_WINDOW = 8;
const MS_EACH = 2;
/** How fast a receiver that became slower for good is believed. */
const DRIFT = 0.02;

/** How an attempt ended. */
export interface AttemptOutcome {
  success: boolean;
  /** Null when nothing was dialled. */
  latencyMs: number | null;
}

/**
 * How many attempts one webhook may have in flight: one more with each answer while its receiver keeps up, one less
 * when an answer is slow beside what it took before, half of it with each failure
 * (docs/decisions/events-and-deliveries.md#concurrency-per-receiver).
 */
export class ConcurrencyWindow {
  readonly #first: number;
  readonly #most: number;
  #size: number;
  #goodMs = Number.POSITIVE_INFINITY;

  constructor(most: number) {
    this.#most = most;
    this.#first = Math.min(INITIAL_CONCURRENCY, most);
    this.#size = this.#first;
  }

  get size(): number {
    return this.#size;
  }

  /** It has grown, so its receiver has shown that it keeps up. */
  get isProven(): boolean {
    return this.#size > this.#first;
  }

  /** How many it takes in so many milliseconds. */
  within(ms: number): number {
    return Math.ceil((this.#size * ms) / Math.max(1, this.#goodMs));
  }

  /** @param isWanted the window is in use: what was not asked for proves nothing. */
  ended({ success, latencyMs }: AttemptOutcome, isWanted: boolean): void {
    if (!success) {
      this.#size = Math.max(1, Math.floor(this.#size / 2));
      return;
    }
    const tookMs = latencyMs ?? 0;
    const isSlow = tookMs > this.#goodMs * SLOW_TIMES + SLOW_MORE_MS;
    this.#goodMs = tookMs < this.#goodMs ? tookMs : this.#goodMs + (tookMs - this.#goodMs) * DRIFT;
    const most = Math.min(this.#most, Math.max(FAST_WINDOW, Math.ceil(this.#goodMs / MS_EACH)));
    if (isSlow && this.isProven) this.#size -= 1;
    else if (!isSlow && isWanted && this.#size < most) this.#size += 1;
  }
}
