const MAX_SECONDS = 5;
const MAX_KEYFRAMES = 5;

interface Second {
  index: number;
  bytes: number;
  frames: number;
}

/** Rates over the last complete seconds. Times are milliseconds of a monotonic clock. */
export class MediaStats {
  bytes = 0;
  #startedAtMs: number;
  #seconds: Second[] = [];
  #lastKeyframe: number | null = null;
  #keyframeGaps: number[] = [];

  constructor(startedAtMs: number) {
    this.#startedAtMs = startedAtMs;
  }

  /** Counts received bytes, those of protocol headers included. */
  add(nowMs: number, bytes: number): void {
    this.bytes += bytes;
    this.#second(nowMs).bytes += bytes;
  }

  /** Counts a video frame. */
  frame(nowMs: number): void {
    this.#second(nowMs).frames += 1;
  }

  #second(nowMs: number): Second {
    const index = this.#index(nowMs);
    let second = this.#seconds.at(-1);
    if (second === undefined || second.index !== index) {
      second = { index, bytes: 0, frames: 0 };
      this.#seconds.push(second);
      if (this.#seconds.length > MAX_SECONDS + 1) this.#seconds.shift();
    }
    return second;
  }

  /** `timestamp` is the encoder's. */
  keyframe(timestamp: number): void {
    const gapMs = this.#lastKeyframe === null ? 0 : (timestamp - this.#lastKeyframe) | 0;
    // Timestamps that go back a little are no jump, and no distance.
    if (gapMs > 0) this.#keyframeGaps.push(gapMs);
    if (this.#keyframeGaps.length > MAX_KEYFRAMES) this.#keyframeGaps.shift();
    this.#lastKeyframe = timestamp;
  }

  /** Discards the last keyframe after a timestamp jump: the distance to it is meaningless. */
  forgetKeyframe(): void {
    this.#lastKeyframe = null;
  }

  get keyframeIntervalMs(): number | null {
    return this.#keyframeGaps.length === 0 ? null : Math.max(...this.#keyframeGaps);
  }

  rates(nowMs: number): { bitrateKbps: number; fps: number } {
    const current = this.#index(nowMs);
    const first = Math.max(0, current - MAX_SECONDS);
    const whole = this.#seconds.filter((second) => second.index >= first && second.index < current);
    const seconds = Math.max(1, current - first);
    const bytes = whole.reduce((sum, second) => sum + second.bytes, 0);
    const frames = whole.reduce((sum, second) => sum + second.frames, 0);
    return {
      bitrateKbps: Math.round((bytes * 8) / 1000 / seconds),
      fps: Math.round((frames * 10) / seconds) / 10,
    };
  }

  #index(nowMs: number): number {
    return Math.floor((nowMs - this.#startedAtMs) / 1000);
  }
}
