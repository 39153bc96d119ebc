/**
 * Measures the latency of the watch page: the video contains the time as bits, and Chromium reads it. `node
 * bench/latency.ts [seconds [keyframes]]`: one broadcast for each latency mode and keyframe interval (`1,2,4`
 * seconds), of 30 seconds by default (600 shows ten minutes without a stall). Prints JSON lines with the 95th
 * percentile, the time to the first frame (the median of five openings) and the stalls. Baselines are hls.js
 * with the HLS that nginx-rtmp makes of the same camera, and a WHEP client with the same camera by RTMP and
 * by WHIP. With `whep` as a third argument, it measures only those two.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { FAKE_DEVICES, launchBrowser, type TestBrowser } from '../test/harness/browser.ts';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { CURRENT_FFMPEG, NO_CURRENT_FFMPEG } from '../test/live/current-ffmpeg.ts';
import { WHEP_CLIENT } from '../test/live/whep-client.ts';
import { NO_JANUS } from '../test/rooms/janus.ts';
import { type CameraOutput, READER, startCamera } from './support/camera.ts';
import { startNginxHls } from './support/nginx-hls.ts';
import { median, report } from './support/report.ts';

const SECONDS = Number(process.argv[2] ?? 30);
const GOPS_SEC = (process.argv[3] ?? '1,2,4').split(',').map(Number);
const TARGET_MS = { LOW: 2000, STANDARD: 5000 } as const;
const WHEP_TARGET_MS = 500;
/** Sequential openings of the page, for the median. */
const OPENINGS = 5;
const IS_WHEP_ALONE = process.argv[4] === 'whep';

interface Setting {
  mode: keyof typeof TARGET_MS;
  gopSec: number;
}

async function measure(
  { platform, browser, partner }: { platform: RunningPlatform; browser: TestBrowser; partner: Partner },
  { mode, gopSec }: Setting,
): Promise<void> {
  const name = `${mode}, keyframes every ${gopSec} s`;
  const stream = await partner.createStream({ latencyMode: mode });
  await partner.start(stream.id);
  const early = await browser.open(`${platform.url}/watch/${stream.id}`, { initScript: READER });
  const camera = startCamera(`rtmp://127.0.0.1:${platform.rtmpPort}/live/${stream.streamKey}`, gopSec);
  try {
    await waitFor(async () => (await partner.stream(stream.id)).hasSignal === true, { intervalMs: 10 });
    const publishedMs = performance.now();
    const address = `${platform.url}/live/${stream.id}/src/index.m3u8`;
    await waitFor(async () => (await (await fetch(address)).text()).includes('.m4s'), {
      timeoutMs: 30_000,
      intervalMs: 20,
    });
    const playableSec = (performance.now() - publishedMs) / 1000;
    report({ name: `${name}: publish to playable`, value: playableSec, unit: 's', target: '<= 1.5' });
    await waitFor(() => early.page.evaluate<boolean>('firstAt !== null'), {
      timeoutMs: 30_000,
      intervalMs: 20,
    });
    const seenSec = (performance.now() - publishedMs) / 1000;
    report({ name: `${name}: publish to first picture`, value: seenSec, unit: 's', target: '<= 1.5' });
    await sleep(8000);
    const waits = await early.page.evaluate<number>('stalls');
    report({ name: `${name}: stalls of who was there first`, value: waits, unit: '', target: '<= 1' });
    await early.close();
    const page = `${platform.url}/watch/${stream.id}`;
    await watch(browser, name, { page, targetMs: TARGET_MS[mode], openings: OPENINGS });
  } finally {
    camera.stop();
    await partner.stop(stream.id);
  }
}

/** Opens the page of a live broadcast, and measures its latency. */
async function watch(
  browser: TestBrowser,
  name: string,
  {
    page,
    targetMs,
    script = READER,
    openings = 1,
  }: { page: string; targetMs: number; script?: string; openings?: number },
): Promise<void> {
  const opened = await browser.open(page, { initScript: script });
  await sleep(SECONDS * 1000);
  const { delays, stalls, firstAt } = await opened.page.evaluate<{
    delays: [number, number][];
    stalls: number;
    firstAt: number | null;
  }>('({ delays, stalls, firstAt })');
  await opened.close();
  const sorted = delays.map(([, delay]) => delay).toSorted((a, b) => a - b);
  const p95 = sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN;
  const target = `<= ${targetMs}`;
  report({ name: `${name}: delay p95`, value: p95, unit: 'ms', target });
  report({ name: `${name}: delay p50`, value: median(sorted), unit: 'ms', target });
  report({ name: `${name}: stalls`, value: stalls, unit: '', target: '<= 0' });
  const firstsMs = [firstAt ?? Number.POSITIVE_INFINITY];
  while (firstsMs.length < openings) firstsMs.push(await firstPicture(browser, page, script));
  const of = openings > 1 ? `, p50 of ${openings}` : '';
  report({ name: `${name}: first picture${of}`, value: median(firstsMs), unit: 'ms', target: '<= 1000' });
}

/** Milliseconds from the opening of a page. */
async function firstPicture(browser: TestBrowser, page: string, script: string): Promise<number> {
  const opened = await browser.open(page, { initScript: script });
  const firstAt = () => opened.page.evaluate<number | null>('firstAt');
  await waitFor(async () => (await firstAt()) !== null, { timeoutMs: 30_000, intervalMs: 50 });
  const ms = await firstAt();
  await opened.close();
  return ms ?? Number.POSITIVE_INFINITY;
}

/** Measures nginx as the baseline. It has no target: its value is the figure. */
async function measureNginx(browser: TestBrowser, gopSec: number): Promise<void> {
  const nginx = await startNginxHls();
  if (nginx === null) {
    process.stdout.write('skipped: nginx-rtmp; there is none on this machine\n');
    return;
  }
  const camera = startCamera(nginx.publishTo, gopSec);
  try {
    await nginx.untilPlayable();
    const name = `nginx-rtmp, keyframes every ${gopSec} s`;
    await watch(browser, name, { page: nginx.page, targetMs: Number.MAX_SAFE_INTEGER });
  } finally {
    camera.stop();
    await nginx.close();
  }
}

/** Measures a plain WHEP client with an encoder by RTMP or by WHIP. */
async function measureWhep(
  { platform, browser, partner }: { platform: RunningPlatform; browser: TestBrowser; partner: Partner },
  by: 'RTMP' | 'WHIP',
  gopSec: number,
): Promise<void> {
  const lack = NO_JANUS || (by === 'WHIP' && NO_CURRENT_FFMPEG);
  if (lack !== false) {
    process.stdout.write(`skipped: ${by} in, WHEP out; ${lack}\n`);
    return;
  }
  const stream = await partner.createStream({ autoStart: true });
  const rtmp = `rtmp://127.0.0.1:${platform.rtmpPort}/live/${stream.streamKey}`;
  const camera = startCamera(by === 'RTMP' ? rtmp : whipOutput(platform, stream.streamKey), gopSec);
  try {
    const isReady = async () => {
      const found: Record<string, unknown> = { ...(await partner.stream(stream.id)) };
      return found.isLive === true && found.whepUrl !== null;
    };
    await waitFor(isReady, { timeoutMs: 30_000, intervalMs: 100 });
    const begin = `addEventListener('DOMContentLoaded', () => whep('${platform.url}/whep/${stream.id}'));`;
    await watch(browser, `${by} in, WHEP out, keyframes every ${gopSec} s`, {
      page: `${platform.url}/api/v1/health`,
      targetMs: WHEP_TARGET_MS,
      script: [READER, WHEP_CLIENT, begin].join('\n'),
    });
  } finally {
    camera.stop();
    await partner.stop(stream.id);
  }
}

function whipOutput(platform: RunningPlatform, streamKey: string): CameraOutput {
  const sound = ['-bf', '0', '-c:a', 'libopus', '-ar', '48000', '-ac', '2'];
  const target = ['-f', 'whip', '-authorization', streamKey, `${platform.url}/whip`];
  return { program: CURRENT_FFMPEG, args: [...sound, ...target] };
}

const platform = await startPlatform();
const browser = await launchBrowser(FAKE_DEVICES);
try {
  const partner = createPartner(platform);
  const ready = { platform, browser, partner };
  if (!IS_WHEP_ALONE) {
    for (const mode of ['LOW', 'STANDARD'] as const)
      for (const gopSec of GOPS_SEC) await measure(ready, { mode, gopSec });
    await measureNginx(browser, GOPS_SEC[0] ?? 2);
  }
  for (const by of ['RTMP', 'WHIP'] as const)
    for (const gopSec of GOPS_SEC) await measureWhep(ready, by, gopSec);
} finally {
  await browser.close();
  await platform.stop();
}
