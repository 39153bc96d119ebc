/** So many milliseconds of packets say how fast the fastest come. */
const WINDOW_MS = 2000;
/** After the first packets, which may wait for each other. */
const SETTLE_MS = 1000;
/** One step of what is corrected, for clocks that drift. */
const STEP_MS = 2;
const TOLERANCE_MS = 15;
/** More than that is a timestamp that jumped. */
const JUMP_MS = 3000;

/**
 * When the packets of one track were sent, in milliseconds of one line for all tracks: timestamps of RTP are even but begin
 * anywhere, and arrivals are true but late by what the network took. The packets that come fastest tie one to the other.
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

  /** @param timestamp that never begins anew. */
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
