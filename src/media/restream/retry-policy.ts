import type { PushErrorKind } from './failure.ts';

/** docs/concepts/restreams.md#states */
const BACKOFF_MS = [1000, 2000, 5000, 10_000, 30_000] as const;
/** Duration of a success after which the failure count is reset. */
export const STABLE_MS = 30_000;
/** An end after less is a failure to begin. */
export const ESTABLISHED_MS = 1000;
/** Rejections of a key after which it counts as wrong. */
const REFUSALS = { refused: 3, dropped: 5 } as const;
/**
 * Time after a success in which a rejected key usually means that the previous connection has not ended yet.
 */
const KNOWN_GOOD_MS = 120_000;

/** Retry schedule, shared by restreams and bridges. */
export class RetryPolicy {
  readonly #backoffMs: readonly number[];
  #failures = 0;
  #refusals = 0;
  #lastGoodMs: number;

  /**
   * @param backoffMs waits between a failure and the next attempt; the last one repeats.
   * @param goodAgoMs how long ago it went well before these attempts.
   */
  constructor(backoffMs: readonly number[] = BACKOFF_MS, goodAgoMs = Number.POSITIVE_INFINITY) {
    this.#backoffMs = backoffMs;
    this.#lastGoodMs = performance.now() - goodAgoMs;
  }

  /** Failures since it last went well for `STABLE_MS`. */
  get failures(): number {
    return this.#failures;
  }

  /** Resets the counts after a success for `STABLE_MS`. */
  good(): void {
    this.#failures = 0;
    this.#refusals = 0;
  }

  /** Records the end of an attempt that had started to work. */
  ended(lastedMs: number): void {
    if (lastedMs >= STABLE_MS) this.good();
    if (lastedMs >= ESTABLISHED_MS) this.#lastGoodMs = performance.now();
  }

  /** @returns how long to wait; null when it would go wrong in the same way. */
  failed(kind: PushErrorKind): number | null {
    this.#failures += 1;
    const waitMs = this.#backoffMs[Math.min(this.#failures, this.#backoffMs.length) - 1] ?? 0;
    if (kind === 'normal' || kind === 'fatal') {
      this.#refusals = 0;
      return kind === 'fatal' ? null : waitMs;
    }
    this.#refusals += 1;
    const wasGood = performance.now() - this.#lastGoodMs < KNOWN_GOOD_MS;
    return this.#refusals >= REFUSALS[kind] && !wasGood ? null : waitMs;
  }
}
