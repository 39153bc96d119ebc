import type { Page } from 'playwright-core';
import { waitFor } from '../harness/wait-for.ts';

/**
 * Page script that counts the tenths of a second in which the video of a watch page moved, and its longest
 * freeze; a reload resets both.
 */
export const PLAYBACK_MONITOR = `window.moved = 0; window.stillMs = 0;
(() => {
  let frames = 0;
  let sinceMs = performance.now();
  setInterval(() => {
    const now = document.querySelector('video')?.getVideoPlaybackQuality().totalVideoFrames ?? 0;
    if (window.moved > 0) window.stillMs = Math.max(window.stillMs, performance.now() - sinceMs);
    if (now === frames) return;
    frames = now;
    sinceMs = performance.now();
    window.moved += 1;
  }, 100);
})();`;

/** Resolves when the video has moved for `more` additional tenths of a second. */
export async function waitForPlayback(page: Page, more: number): Promise<void> {
  const moved = () => page.evaluate<number>('moved');
  const from = await moved();
  let now = from;
  const message = () => `the picture moved ${now - from} times of ${more}`;
  const hasMoved = async () => {
    now = await moved();
    return now >= from + more;
  };
  await waitFor(hasMoved, { timeoutMs: 60_000, message });
}

/** @returns the longest freeze of the video since the last call, in milliseconds. */
export function longestFreeze(page: Page): Promise<number> {
  return page.evaluate<number>('(() => { const found = stillMs; window.stillMs = 0; return found; })()');
}
