const MEASURE_MS = 2000;
const MIN_FRAMES = 8;
const COMMON_RATES = [15, 23.976, 24, 25, 29.97, 30, 48, 50, 59.94, 60, 90, 100, 119.88, 120];

/** Frame rate over the first two seconds of media time, by the encoder's own timestamps. */
export class FrameRateMeter {
  #first: number | null = null;
  #frames = 0;
  #result: number | null = null;

  /** @returns the rate once, as soon as it is known. */
  frame(timestamp: number): number | null {
    if (this.#result !== null) return null;
    this.#first ??= timestamp;
    const elapsed = (timestamp - this.#first) >>> 0;
    if (elapsed > 10 * MEASURE_MS) {
      // The clock of the encoder jumped: begin again.
      this.#first = timestamp;
      this.#frames = 0;
    } else if (elapsed >= MEASURE_MS && this.#frames >= MIN_FRAMES) {
      this.#result = nearestRate((this.#frames * 1000) / elapsed);
      return this.#result;
    }
    this.#frames++;
    return null;
  }
}

/** Rounds to a common rate within 1 %, because timestamps are integer milliseconds. */
function nearestRate(fps: number): number {
  const distance = (rate: number) => Math.abs(rate - fps);
  const nearest = COMMON_RATES.reduce((best, rate) => (distance(rate) < distance(best) ? rate : best));
  return distance(nearest) <= nearest / 100 ? nearest : Math.round(fps * 100) / 100;
}
