/** More than that is a clock that jumped, or another publish. */
const JUMP_MS = 3000;

/** One line of times for publishes that follow each other, and for encoders whose clock jumps; it goes on as time does. */
export class Timeline {
  #shiftMs: number | null = null;
  #lastMs = 0;
  #lastAtMs = performance.now();

  /** What comes next has another beginning. */
  begin(): void {
    this.#shiftMs = null;
  }

  /** @param ms of sound or picture, as the encoder counts. */
  at(ms: number): number {
    const now = performance.now();
    const isJump = this.#shiftMs === null || Math.abs(ms + this.#shiftMs - this.#lastMs) > JUMP_MS;
    if (isJump) this.#shiftMs = Math.round(this.#lastMs + Math.max(1, now - this.#lastAtMs)) - ms;
    const at = ms + (this.#shiftMs ?? 0);
    if (at > this.#lastMs) [this.#lastMs, this.#lastAtMs] = [at, now];
    return at;
  }
}
