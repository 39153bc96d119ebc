import type { Clock } from '../kernel/clock.ts';
import { checkFfmpeg } from '../media/ffmpeg/check.ts';

/** ffmpeg does not come and go, and asking it takes three programs. */
const FRESH_MS = 60_000;

/**
 * Throws, with one line that says what to do, while there is no usable ffmpeg here.
 *
 * @param maxAgeMs of an answer that is good enough, default 60,000.
 */
export type ToolCheck = (maxAgeMs?: number) => Promise<void>;

export function createToolCheck(ffmpeg: string, clock: Clock): ToolCheck {
  let seenAt = Number.NEGATIVE_INFINITY;
  return async (maxAgeMs = FRESH_MS) => {
    if (Math.abs(clock.ms() - seenAt) < maxAgeMs) return;
    await checkFfmpeg(ffmpeg);
    seenAt = clock.ms();
  };
}
