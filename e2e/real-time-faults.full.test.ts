import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { FAKE_DEVICES, launchBrowser, type TestBrowser } from '../test/harness/browser.ts';
import type { Partner } from '../test/harness/partner.ts';
import type { RunningPlatform } from '../test/harness/platform.ts';
import { childrenOf, singleItem } from '../test/harness/processes.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { chooseRealTime, HAS_WEBRTC, holds } from '../test/live/real-time-player.ts';
import { WHEP_CLIENT, type WhepAnswer } from '../test/live/whep-client.ts';
import { WHIP_CLIENT } from '../test/live/whip-client.ts';
import { janusPid, NO_JANUS } from '../test/rooms/janus.ts';
import { startJanusPlatform } from '../test/rooms/janus-platform.ts';
import { keepPublishing } from '../test/rtmp/reconnecting-publisher.ts';

const PATIENT = { timeoutMs: 30_000, intervalMs: 100 };
/** Counts the tenths of a second in which the video of the page moved; a reload resets the count. */
const WITNESS = `window.moved = 0; window.lastSec = 0;
setInterval(() => {
  const sec = document.querySelector('video')?.currentTime ?? 0;
  if (sec !== window.lastSec) window.moved += 1;
  window.lastSec = sec;
}, 100);`;
/** User agent of a normal browser: one that identifies itself as automated is a bot and is not counted. */
const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
const SILENT_MS = 15_000;

let platform: RunningPlatform;
let browser: TestBrowser;
let partner: Partner;
let close = async () => {};
before(async () => {
  if (NO_JANUS !== false) return;
  // A single seat, so that the next viewer fails if it is not released.
  const limits = { WHEP_MAX_VIEWERS_PER_STREAM: '1', SIGNAL_GRACE_MS: '60000' };
  ({ platform, browser, partner, close } = await startJanusPlatform('21900-21999', limits));
});
after(() => close());

const viewerCount = async (id: string) => Object(await partner.stream(id)).viewerCount as number;

async function killMedia(): Promise<void> {
  process.kill(singleItem(childrenOf(platform.process.pid ?? -1, '/media.')), 'SIGKILL');
}

async function killJanus(): Promise<void> {
  const pid = await janusPid(platform.dataDir);
  assert.ok(pid !== null);
  process.kill(pid, 'SIGKILL');
}

/** Starts an RTMP encoder that reconnects. */
function encode(t: TestContext, key: string): void {
  const encoder = keepPublishing({ port: platform.rtmpPort, key }, { width: 320, height: 180, fps: 15 });
  t.after(() => encoder.stop());
}

/** A page that publishes by WHIP, and again whenever its connection ends. */
async function keepFilming(t: TestContext, streamKey: string): Promise<void> {
  const { page, close: leave } = await browser.open(`${platform.url}/api/v1/health`, {
    initScript: WHIP_CLIENT,
  });
  t.after(leave);
  await page.evaluate(`window.again = async () => {
    for (;;) {
      try {
        await whip('/whip', '${streamKey}');
        break;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
    const look = setInterval(() => {
      if (!['failed', 'closed', 'disconnected'].includes(pc.connectionState)) return;
      clearInterval(look);
      pc.close();
      again();
    }, 200);
  }; again();`);
}

/** The watch page, which plays by WebRTC. */
async function watchInRealTime(t: TestContext, id: string): Promise<Page> {
  await waitFor(async () => (await partner.stream(id)).isLive, PATIENT);
  const { page, close: leave } = await browser.open(`${platform.url}/watch/${id}`, {
    initScript: WITNESS,
    userAgent: USER_AGENT,
  });
  t.after(leave);
  await chooseRealTime(page);
  await holds(page, HAS_WEBRTC);
  return page;
}

/** Resolves when the video has moved for three more seconds. */
async function plays(site: Page): Promise<void> {
  const moved = () => site.evaluate<number>('moved');
  const from = await moved();
  await waitFor(async () => (await moved()) >= from + 30, {
    timeoutMs: 60_000,
    message: 'the picture to move',
  });
}

/** Waits for WebRTC without viewer action: the player retries it while HLS plays. */
const isRealTimeAgain = (site: Page) =>
  waitFor(() => site.evaluate<boolean>(`Boolean(${HAS_WEBRTC})`), {
    ...{ timeoutMs: 90_000, intervalMs: 500, message: 'real time again' },
  });

for (const by of ['RTMP', 'WHIP'] as const) {
  test(`a WHEP viewer of ${by} input continues after kill -9 of the media process and of Janus`, {
    skip: NO_JANUS,
  }, async (t) => {
    const { id, streamKey } = await partner.createStream({ autoStart: true });
    if (by === 'RTMP') encode(t, streamKey);
    else await keepFilming(t, streamKey);
    const site = await watchInRealTime(t, id);
    await plays(site);
    const { startedAt } = await partner.stream(id);
    for (const [name, kill] of Object.entries({ killJanus, killMedia })) {
      await kill();
      const killedMs = performance.now();
      const say = (what: string) =>
        t.diagnostic(`${name}: ${what} after ${Math.round(performance.now() - killedMs)} ms`);
      // Wait until buffered media has been played.
      await waitFor(async () => !(await site.evaluate<boolean>(`Boolean(${HAS_WEBRTC})`)), {
        ...{ timeoutMs: 30_000, message: `${name} to be seen by the page` },
      });
      say('seen by the page');
      await plays(site);
      say('three seconds of picture');
      await isRealTimeAgain(site);
      say('real time again');
      await plays(site);
      await waitFor(async () => (await viewerCount(id)) === 1, { ...PATIENT, message: 'one viewer' });
    }
    const found = await partner.stream(id);
    assert.deepEqual([found.isLive, found.startedAt], [true, startedAt], 'the same broadcast');
    assert.ok(await site.evaluate<boolean>('moved > 100'), 'it is the page that was opened first');
  });
}

test('a killed browser releases its seat', { skip: NO_JANUS }, async (t) => {
  const { id, streamKey } = await partner.createStream({ autoStart: true });
  encode(t, streamKey);
  await waitFor(async () => (await partner.stream(id)).isLive, PATIENT);
  const open = (from: TestBrowser) =>
    from.open(`${platform.url}/api/v1/health`, { initScript: WHEP_CLIENT, userAgent: USER_AGENT });
  const watch = async (page: Page) =>
    (await page.evaluate<WhepAnswer>(`whep('${platform.url}/whep/${id}')`)).status;
  const before = browsersOf(process.pid);
  const other = await launchBrowser(FAKE_DEVICES);
  t.after(() => other.close().catch(() => {}));
  const { page: gone } = await open(other);
  assert.equal(await watch(gone), 201);
  await waitFor(() => gone.evaluate<boolean>("pc.connectionState === 'connected'"), PATIENT);
  await waitFor(async () => (await viewerCount(id)) === 1, { ...PATIENT, message: 'the viewer to count' });
  const { page: next, close: leave } = await open(browser);
  t.after(leave);
  assert.equal(await watch(next), 503, 'there is one seat');

  const own = browsersOf(process.pid).filter((pid) => !before.includes(pid));
  for (const pid of own) process.kill(pid, 'SIGKILL');
  const killedMs = performance.now();
  assert.equal(await watch(next), 503, 'nobody has told yet');
  await waitFor(async () => (await watch(next)) === 201, { timeoutMs: 30_000, intervalMs: 1500 });
  const tookMs = performance.now() - killedMs;
  assert.ok(tookMs > SILENT_MS / 2 && tookMs < 2 * SILENT_MS, `it took ${Math.round(tookMs)} ms`);
  await next.evaluate('pc.close()');
  await waitFor(async () => (await viewerCount(id)) === 0, { timeoutMs: 60_000, message: 'nobody to count' });
});

/** Returns the browsers started by a process, and their descendants. */
function browsersOf(pid: number): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args=']).toString().trim().split('\n');
  const rows = lines.map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []);
  const below = (parent: number): number[] =>
    rows
      .filter(([, , ppid, args]) => Number(ppid) === parent && /chrom/i.test(args ?? ''))
      .flatMap(([, own]) => [Number(own), ...below(Number(own))]);
  return below(pid);
}
