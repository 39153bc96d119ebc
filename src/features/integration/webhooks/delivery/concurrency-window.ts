/** Attempts in flight for a webhook that nothing is known of yet, and for one that is slow. */
export const INITIAL_CONCURRENCY = 4;

/** A response is slow when it takes this many times as long as a good one, plus a margin for jitter. */
const SLOW_TIMES = 3;
const SLOW_MORE_MS = 50;
/**
 * A receiver that responds immediately handles a thousand and more requests a second over a few connections;
 * only a slow one needs many: one per two milliseconds of latency, part of which a busy machine adds itself.
 */
const FAST_WINDOW = 8;
const MS_EACH = 2;
/** Weight of a slower response in the moving average of good latency. */
const DRIFT = 0.02;

/** Outcome of an attempt. */
export interface AttemptOutcome {
  success: boolean;
  /** Null when nothing was dialled. */
  latencyMs: number | null;
}

/**
 * Limit of one webhook's attempts in flight: one more with each response while its receiver keeps up, one
 * less when a response is slow compared to previous ones, half with each failure
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

  /** Returns the number of attempts that the receiver handles in the given time. */
  within(ms: number): number {
    return Math.ceil((this.#size * ms) / Math.max(1, this.#goodMs));
  }

  /** @param isWanted whether the window is in use: success below the limit proves nothing. */
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
