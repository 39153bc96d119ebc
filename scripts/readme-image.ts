import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { launchBrowser } from '../test/harness/browser.ts';
import { headersOf, OWNER_KEY, type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { startPublisher } from '../test/rtmp/publisher.ts';
import { ROOT } from './program.ts';

/**
 * Writes `docs/images/dashboard.png`, the image of the README: the page of a stream during a broadcast. Run it with
 * `node scripts/bootstrap.mjs readme-image`.
 */
const FOLDER = join(ROOT, 'docs/images');
const VIEWPORT = { width: 1600, height: 1000 };
const MAX_BYTES = 300_000;
/** Colors of the image: a palette keeps it small. */
const COLORS = 256;
const OWNER = { email: 'owner@marquee.localhost', password: 'correct horse battery' };
const API_TIMEOUT_MS = 20_000;

interface Stream {
  id: string;
  streamKey: string;
  ingest: { rtmpUrl: string };
}

async function createStream({ api }: RunningPlatform): Promise<Stream> {
  const response = await fetch(`${api}/streams`, {
    method: 'POST',
    headers: headersOf(OWNER_KEY),
    body: JSON.stringify({ title: 'Friday night live', record: true }),
  });
  const { data }: { data: Stream } = JSON.parse(await response.text());
  return data;
}

async function startBroadcast({ api }: RunningPlatform, id: string): Promise<void> {
  await waitFor(
    async () => {
      const response = await fetch(`${api}/streams/${id}/health`, { headers: headersOf(OWNER_KEY) });
      const { data }: { data: { healthy: boolean | null } } = JSON.parse(await response.text());
      return data.healthy;
    },
    { timeoutMs: API_TIMEOUT_MS, intervalMs: 250, message: 'a healthy signal' },
  );
  await fetch(`${api}/streams/${id}/start`, { method: 'POST', headers: headersOf(OWNER_KEY) });
}

/** Signs in without the form, so that its texts may change. */
async function signIn(page: Page): Promise<void> {
  const status = await page.evaluate(async (body) => {
    const headers = { 'content-type': 'application/json' };
    return (await fetch('/api/v1/auth/session', { method: 'POST', headers, body })).status;
  }, JSON.stringify(OWNER));
  if (status !== 201) throw new Error(`sign-in returned ${status}`);
}

/** Reports whether the player in the page shows at least two seconds of the signal. */
async function isPlaying(page: Page): Promise<boolean> {
  const player = page.frames().find((frame) => frame.url().includes('/embed/'));
  return (await player?.evaluate<boolean>("document.querySelector('video').currentTime > 2")) ?? false;
}

async function takeImage(platform: RunningPlatform, id: string): Promise<Buffer> {
  const browser = await launchBrowser();
  try {
    const dashboard = `http://localhost:${platform.port}/dashboard`;
    const { page } = await browser.open(dashboard, {
      viewport: VIEWPORT,
      colorScheme: 'light',
      locale: 'en-US',
    });
    await signIn(page);
    await page.goto(`${dashboard}/live/${id}`);
    await waitFor(() => isPlaying(page), {
      timeoutMs: API_TIMEOUT_MS,
      intervalMs: 250,
      message: 'a playing preview',
    });
    return await page.screenshot({ animations: 'disabled' });
  } finally {
    await browser.close();
  }
}

const platform = await startPlatform({
  isFirstStart: true,
  environment: { LOG_LEVEL: 'warn', BOOTSTRAP_PASSWORD: OWNER.password },
});
try {
  const { id, streamKey, ingest } = await createStream(platform);
  const publisher = startPublisher({ url: `${ingest.rtmpUrl}/${streamKey}`, width: 1280, height: 720 });
  try {
    await startBroadcast(platform, id);
    const image = sharp(await takeImage(platform, id)).png({ palette: true, colors: COLORS, effort: 10 });
    await mkdir(FOLDER, { recursive: true });
    const { size } = await image.toFile(join(FOLDER, 'dashboard.png'));
    if (size > MAX_BYTES) throw new Error(`dashboard.png has ${size} bytes, more than ${MAX_BYTES}`);
  } finally {
    await publisher.stop();
  }
} finally {
  await platform.stop();
}
// The browser leaves handles open.
process.exit(0);
