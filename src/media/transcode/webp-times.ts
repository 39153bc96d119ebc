import type { WebpAnimation } from './webp.ts';

/** Minimum interval that is encoded: 60 frames per second. */
const LEAST_BEAT_MS = 16;
/** Interval for an animation without a common one: no frame moves by more than half of it. */
const OWN_BEAT_MS = 20;
/** Maximum pixels for repeated frames: a few seconds of work. */
const MAX_REPEATED_PIXELS = 3e9;

/**
 * Yields the times, in milliseconds, at which each frame is sent to the encoder. Frames are repeated while
 * they are shown, unless that costs too much, so that frames of different durations have a constant rate, and
 * the last one an end.
 */
export function* frameTimes({ width, height, frames }: WebpAnimation): Generator<number[]> {
  const common = frames.reduce((all, { durationMs }) => gcd(all, durationMs), 0);
  const beatMs = common >= LEAST_BEAT_MS ? common : OWN_BEAT_MS;
  const totalMs = frames.reduce((sum, { durationMs }) => sum + durationMs, 0);
  const isRepeated = (totalMs / beatMs) * width * height <= MAX_REPEATED_PIXELS;
  let startMs = 0;
  // Frame by frame: a small animation may be shown for hours.
  for (const [index, { durationMs }] of frames.entries()) {
    const endMs = startMs + durationMs;
    const isLast = index === frames.length - 1;
    const stepMs = isRepeated ? beatMs : durationMs;
    const times: number[] = [];
    for (let atMs = startMs; atMs < endMs; atMs += stepMs) times.push(atMs);
    // The end follows from the last time and the interval.
    if (isLast && times.length > 1) times.splice(-1, 1, endMs - stepMs);
    startMs = endMs;
    yield times;
  }
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
