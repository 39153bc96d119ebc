/** More than that is a clock that jumped, or another publish. */
const JUMP_MS = 3000;

/**
 * Continuous timeline over consecutive publishes and jumps of an encoder's clock; it advances with real time.
 */
export class Timeline {
  #shiftMs: number | null = null;
  #lastMs = 0;
  #lastAtMs = performance.now();

  /** Announces that the next timestamps have another origin. */
  begin(): void {
    this.#shiftMs = null;
  }

  /** @param ms timestamp of audio or video from the encoder. */
  at(ms: number): number {
    const now = performance.now();
    const isJump = this.#shiftMs === null || Math.abs(ms + this.#shiftMs - this.#lastMs) > JUMP_MS;
    if (isJump) this.#shiftMs = Math.round(this.#lastMs + Math.max(1, now - this.#lastAtMs)) - ms;
    const at = ms + (this.#shiftMs ?? 0);
    if (at > this.#lastMs) [this.#lastMs, this.#lastAtMs] = [at, now];
    return at;
  }
}
