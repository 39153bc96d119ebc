/** Thresholds of a timestamp jump: backward, and forward beyond the elapsed time. */
const JUMP_BACK_MS = 1000;
const JUMP_AHEAD_MS = 3000;
/** No encoder is silent for longer: its publish ends before. */
const PASSED_MAX_MS = 30_000;
/**
 * Maximum lead of a track over the clock: media buffered before a reader connected, or delayed, arrives in a
 * burst.
 */
const AHEAD_MS = 40_000;
/** Excess speed of an encoder's clock, as a share, that is followed indefinitely. */
const FAST_SHARE = 0.1;

type TrackName = 'audio' | 'video';

interface Track {
  /** Timestamp sent by the encoder. */
  timestamp: number;
  /** Its time on the timeline, before monotonicity is enforced. */
  atMs: number;
  /** Last result. */
  placedMs: number;
  seenMs: number;
  /** Lowest recent lead over the clock. */
  leastMs: number;
}

/**
 * Maps the timestamps of a publish, 32 bits that wrap around every 49 days, to a timeline in milliseconds
 * that begins with 0 at the first frame and never decreases within a track. After a jump of an encoder's
 * clock, the timeline continues by the elapsed time, and both tracks keep their offset if both jumped
 * equally. When the encoder's clock runs away, the timeline stays a limited time ahead of ours.
 */
export class Timeline {
  readonly #tracks: Partial<Record<TrackName, Track>> = {};

  /**
   * @param nowMs time of a monotonic clock.
   * @returns milliseconds; below 0 for media before the first frame.
   */
  place(name: TrackName, timestamp: number, nowMs: number): number {
    const last = this.#tracks[name];
    const other = this.#tracks[name === 'video' ? 'audio' : 'video'];
    if (last === undefined) {
      const atMs = first(other, timestamp);
      this.#tracks[name] = { timestamp, atMs, placedMs: atMs, seenMs: nowMs, leastMs: atMs - nowMs };
      return atMs;
    }
    const lowestLeadMs = last.leastMs + (nowMs - last.seenMs) * FAST_SHARE;
    const mostMs = nowMs + lowestLeadMs + AHEAD_MS;
    const atMs = Math.min(next(last, other, timestamp, nowMs), mostMs);
    const placedMs = Math.max(atMs, Math.min(last.placedMs + 1, mostMs));
    const aheadMs = placedMs - nowMs;
    this.#tracks[name] = {
      timestamp,
      atMs,
      placedMs,
      seenMs: nowMs,
      leastMs: Math.min(lowestLeadMs, aheadMs),
    };
    return placedMs;
  }
}

function first(other: Track | undefined, timestamp: number): number {
  if (other === undefined) return 0;
  const step = stepOf(other, timestamp);
  // Audio and video with unrelated timestamps are treated as simultaneous.
  return Math.abs(step) > JUMP_AHEAD_MS ? other.placedMs : other.atMs + step;
}

function next(last: Track, other: Track | undefined, timestamp: number, nowMs: number): number {
  const step = stepOf(last, timestamp);
  const passedMs = Math.min(Math.max(nowMs - last.seenMs, 1), PASSED_MAX_MS);
  if (step >= -JUMP_BACK_MS && step - passedMs <= JUMP_AHEAD_MS) return last.atMs + step;
  const goesOn = last.placedMs + passedMs;
  if (other === undefined) return goesOn;
  const beside = other.atMs + stepOf(other, timestamp);
  return Math.abs(beside - goesOn) <= JUMP_AHEAD_MS ? beside : goesOn;
}

function stepOf({ timestamp }: Track, to: number): number {
  return (to - timestamp) | 0;
}
