/** Half-life of the weights of past samples: a burst or a stall shows within seconds, without jumps. */
const HALF_LIFE_MS = 4000;

/** Bytes a second, smoothed. */
export interface SpeedMeter {
  /**
   * Adds a sample: the total bytes sent, at a time in milliseconds. @returns bytes per second; null before it
   * is known.
   */
  add(sentBytes: number, atMs: number): number | null;
}

export function createSpeedMeter(): SpeedMeter {
  let last: { bytes: number; ms: number } | null = null;
  let speed: number | null = null;
  return {
    add(bytes, ms) {
      if (last === null || bytes < last.bytes) {
        last = { bytes, ms };
        return speed;
      }
      const elapsed = ms - last.ms;
      if (elapsed <= 0) return speed;
      const now = ((bytes - last.bytes) / elapsed) * 1000;
      const weight = 2 ** (-elapsed / HALF_LIFE_MS);
      speed = speed === null ? now : speed * weight + now * (1 - weight);
      last = { bytes, ms };
      return speed;
    },
  };
}

/** Returns the remaining seconds; null when the speed is unknown or zero. */
export function remainingSec(leftBytes: number, speed: number | null): number | null {
  return speed === null || speed < 1 ? null : leftBytes / speed;
}
