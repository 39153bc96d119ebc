import type { WebpAnimation } from './webp.ts';

/** So short a beat is still one that is encoded: 60 pictures a second. */
const LEAST_BEAT_MS = 16;
/** Of an animation without a beat of its own: no picture moves by more than half of it. */
const OWN_BEAT_MS = 20;
/** What may be repeated, in pixels: some seconds of work. */
const MOST_REPEATED = 3e9;

/**
 * When each picture is sent to the encoder, in milliseconds; again and again while it stands, where that is not too
 * much, so that a few pictures of different lengths have a beat, too, and the last one its end.
 */
export function* frameTimes({ width, height, frames }: WebpAnimation): Generator<number[]> {
  const common = frames.reduce((all, { durationMs }) => gcd(all, durationMs), 0);
  const beatMs = common >= LEAST_BEAT_MS ? common : OWN_BEAT_MS;
  const totalMs = frames.reduce((sum, { durationMs }) => sum + durationMs, 0);
  const isRepeated = (totalMs / beatMs) * width * height <= MOST_REPEATED;
  let startMs = 0;
  // One picture after the other: a small animation may stand for hours.
  for (const [index, { durationMs }] of frames.entries()) {
    const endMs = startMs + durationMs;
    const isLast = index === frames.length - 1;
    const stepMs = isRepeated ? beatMs : durationMs;
    const times: number[] = [];
    for (let atMs = startMs; atMs < endMs; atMs += stepMs) times.push(atMs);
    // The end is told by the last of them and the beat.
    if (isLast && times.length > 1) times.splice(-1, 1, endMs - stepMs);
    startMs = endMs;
    yield times;
  }
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
