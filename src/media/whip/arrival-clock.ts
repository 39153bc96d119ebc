/** Window in which the lowest packet delay is measured. */
const WINDOW_MS = 2000;
/** After the first packets, which may wait for each other. */
const SETTLE_MS = 1000;
/** Size of one correction step, for clocks that drift. */
const STEP_MS = 2;
const TOLERANCE_MS = 15;
/** More than that is a timestamp that jumped. */
const JUMP_MS = 3000;

/**
 * Estimates the send times of a track's packets, in milliseconds of one timeline for all tracks: RTP
 * timestamps are regular with an arbitrary origin, and arrivals are delayed by the network. The fastest
 * packets relate one to the other.
 */
export class ArrivalClock {
  readonly #ticksPerMs: number;
  #shiftMs: number | null = null;
  #beganMs = 0;
  #windowMs = 0;
  #leastMs = Number.POSITIVE_INFINITY;

  constructor(clockRate: number) {
    this.#ticksPerMs = clockRate / 1000;
  }

  /** @param timestamp unwrapped, never starting over. */
  timeOf(timestamp: number, receivedMs: number): number {
    const ms = timestamp / this.#ticksPerMs;
    const delay = receivedMs - ms;
    if (this.#shiftMs === null || Math.abs(delay - this.#shiftMs) > JUMP_MS) {
      this.#shiftMs = delay;
      this.#beganMs = receivedMs;
      this.#windowMs = receivedMs;
      this.#leastMs = delay;
    }
    if (receivedMs - this.#beganMs < SETTLE_MS) this.#shiftMs = Math.min(this.#shiftMs, delay);
    this.#leastMs = Math.min(this.#leastMs, delay);
    if (receivedMs - this.#windowMs >= WINDOW_MS) this.#correct(receivedMs);
    return ms + this.#shiftMs;
  }

  #correct(receivedMs: number): void {
    const off = this.#leastMs - (this.#shiftMs ?? 0);
    if (Math.abs(off) > TOLERANCE_MS) this.#shiftMs = (this.#shiftMs ?? 0) + Math.sign(off) * STEP_MS;
    this.#windowMs = receivedMs;
    this.#leastMs = Number.POSITIVE_INFINITY;
  }
}
