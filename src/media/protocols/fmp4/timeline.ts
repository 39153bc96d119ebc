/** A track that goes back by so much, or ahead by so much more than time has passed, has jumped. */
const JUMP_BACK_MS = 1000;
const JUMP_AHEAD_MS = 3000;
/** No encoder is silent for longer: its publish ends before. */
const PASSED_MAX_MS = 30_000;
/** How far a track may get ahead of the clock: what was sent before a reader came, or was held up, comes at once. */
const AHEAD_MS = 40_000;
/** A clock that is so much faster than ours is followed for ever. */
const FAST_SHARE = 0.1;

type TrackName = 'audio' | 'video';

interface Track {
  /** As the encoder sent it. */
  timestamp: number;
  /** Where that is on the line, before it is kept from going back. */
  atMs: number;
  /** What was answered last. */
  placedMs: number;
  seenMs: number;
  /** The least of late that it was ahead of the clock. */
  leastMs: number;
}

/**
 * Puts the timestamps of a publish, 32 bits that run over every 49 days, on one line of milliseconds that begins with 0 at
 * the first frame and never goes back within a track. Where an encoder's clock jumps, the line goes on as time has passed, and
 * both tracks keep their distance if both have jumped alike. Where it runs away, the line stays some seconds ahead of ours.
 */
export class Timeline {
  readonly #tracks: Partial<Record<TrackName, Track>> = {};

  /**
   * @param nowMs of a clock that never goes back.
   * @returns milliseconds; below 0 for what belongs before the first frame.
   */
  place(name: TrackName, timestamp: number, nowMs: number): number {
    const last = this.#tracks[name];
    const other = this.#tracks[name === 'video' ? 'audio' : 'video'];
    if (last === undefined) {
      const atMs = first(other, timestamp);
      this.#tracks[name] = { timestamp, atMs, placedMs: atMs, seenMs: nowMs, leastMs: atMs - nowMs };
      return atMs;
    }
    const leastMs = last.leastMs + (nowMs - last.seenMs) * FAST_SHARE;
    const mostMs = nowMs + leastMs + AHEAD_MS;
    const atMs = Math.min(next(last, other, timestamp, nowMs), mostMs);
    const placedMs = Math.max(atMs, Math.min(last.placedMs + 1, mostMs));
    const aheadMs = placedMs - nowMs;
    this.#tracks[name] = { timestamp, atMs, placedMs, seenMs: nowMs, leastMs: Math.min(leastMs, aheadMs) };
    return placedMs;
  }
}

function first(other: Track | undefined, timestamp: number): number {
  if (other === undefined) return 0;
  const step = stepOf(other, timestamp);
  // Sound and picture that have nothing to do with each other are taken as simultaneous.
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
