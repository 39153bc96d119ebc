import type { Page } from 'playwright-core';
import { waitFor } from '../harness/wait-for.ts';

/** Page expression that is true if the player of a watch page shows the broadcast by WebRTC. */
export const HAS_WEBRTC =
  "document.querySelector('video').srcObject?.active && document.querySelector('video').videoWidth > 0";

/** Evaluates the expression directly: the policy of our own pages allows no other way of polling. */
export const holds = (site: Page, expression: string) =>
  waitFor(() => site.evaluate<boolean>(`Boolean(${expression})`), {
    ...{ timeoutMs: 20_000, intervalMs: 100, message: expression },
  });

/** Chosen in the menu of the player, while HLS plays. */
export async function chooseRealTime(site: Page): Promise<void> {
  await holds(site, "document.querySelector('video')?.currentTime > 0");
  await site.locator('.player-real-time').dispatchEvent('click');
}
