import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { after, before, type TestContext, test } from 'node:test';
import { launchBrowser, type TestBrowser, type WatchedPage } from '../test/harness/browser.ts';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { startPublisher } from '../test/rtmp/publisher.ts';

/** Page of a partner: hls.js with its default configuration. */
const PAGE = `<!doctype html><video muted playsinline></video><script src="/hls.js"></script><script>
  const video = document.querySelector('video');
  window.fatal = [];
  const hls = new Hls();
  hls.on(Hls.Events.ERROR, (_, data) => { if (data.fatal) window.fatal.push(data.details); });
  const query = new URLSearchParams(location.search);
  window.load = () => hls.loadSource(query.get('src'));
  if (!query.has('later')) load();
  hls.attachMedia(video);
  hls.on(Hls.Events.LEVEL_LOADED, (_, { details }) => { window.isWaiting = !details.m3u8.includes('PRELOAD-HINT'); });
  hls.on(Hls.Events.MANIFEST_PARSED, () => video.play());
</script>`;

/** Height of broadcasts. */
const LINES = 180;
/** Height above which a broadcast has a second quality. */
const TALL_LINES = 378;
/** Frames of about two seconds. */
const FRAMES = 30;
/** A browser that identifies itself as automated is a bot and is not counted. */
const VIEWER = {
  viewport: { width: 480, height: 270 },
  userAgent:
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
};

let platform: RunningPlatform;
/** Broadcast that was watched and has ended. */
let watchedId: string;
/** Page of that broadcast, whose player plays the rest and then shows that it has ended. */
let watching: WatchedPage;
let browser: TestBrowser;
let partner: Partner;
let site: Server;
let origin: string;

before(async () => {
  const library = await readFile(new URL(import.meta.resolve('hls.js/dist/hls.min.js')));
  site = createServer((request, response) => {
    const isLibrary = request.url === '/hls.js';
    response.setHeader('content-type', isLibrary ? 'text/javascript' : 'text/html');
    response.end(isLibrary ? library : PAGE);
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  const address = site.address();
  origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  platform = await startPlatform();
  browser = await launchBrowser();
  partner = createPartner(platform);
});

after(async () => {
  await browser?.close();
  await platform?.stop();
  site?.closeAllConnections();
  site?.close();
});

function publish(t: TestContext, streamKey: string, lines = LINES, extraArgs: string[] = []) {
  const encoder = startPublisher({
    url: `rtmp://127.0.0.1:${platform.rtmpPort}/live/${streamKey}`,
    width: (lines * 16) / 9,
    height: lines,
    fps: 15,
    extraArgs,
  });
  t.after(() => encoder.stop());
  return encoder;
}

/** @param isLater it loads nothing before `load`. */
async function openPlayer(t: TestContext, streamId: string, isLater = false) {
  const source = `${platform.url}/live/${streamId}/master.m3u8`;
  const { page, close } = await browser.open(
    `${origin}/?src=${encodeURIComponent(source)}${isLater ? '&later' : ''}`,
    VIEWER,
  );
  t.after(close);
  const frames = () =>
    page.evaluate<number>('document.querySelector("video").getVideoPlaybackQuality().totalVideoFrames');
  const fatal = () => page.evaluate<string[]>('window.fatal');
  return {
    page,
    frames,
    fatal,
    load: () => page.evaluate('load()'),
    hasEnded: () => page.evaluate<boolean>('document.querySelector("video").ended'),
    /** Resolves when `more` additional frames have been shown. */
    async plays(more: number, timeoutMs: number): Promise<void> {
      const from = await frames();
      let errors: string[] = [];
      await waitFor(
        async () => {
          errors = await fatal();
          return (await frames()) >= from + more;
        },
        { timeoutMs, intervalMs: 50, message: () => `${more} more frames; fatal: ${errors.join(' ')}` },
      );
    },
  };
}

const hasSignal = (id: string, expected: boolean) =>
  waitFor(async () => (await partner.stream(id)).hasSignal === expected, { timeoutMs: 30_000 });

const read = async (path: string) => Object((await partner.call('GET', path)).data);

test('hls.js on another origin and the watch page play immediately after the start', async (t) => {
  const stream = await partner.createStream();
  publish(t, stream.streamKey);
  await hasSignal(stream.id, true);
  await partner.start(stream.id);
  const player = await openPlayer(t, stream.id);
  await player.plays(FRAMES, 60_000);
  assert.deepEqual(await player.fatal(), []);
  await waitFor(
    async () => {
      const { data } = await partner.call('GET', `/streams/${stream.id}`);
      return typeof data === 'object' && data !== null && 'viewerCount' in data && data.viewerCount === 1;
    },
    { timeoutMs: 30_000, message: 'viewerCount 1' },
  );
  watching = await browser.open(`${platform.url}/watch/${stream.id}`, VIEWER);
  const isWatched = () => watching.page.evaluate<boolean>('document.querySelector("video")?.currentTime > 1');
  await waitFor(isWatched, { timeoutMs: 60_000, message: 'the picture of the watch page' });
  await partner.stop(stream.id);
  watchedId = stream.id;
});

test('hls.js waits for the encoder, outlives its death and sees the next broadcast', async (t) => {
  const stream = await partner.createStream();
  await partner.start(stream.id);
  const player = await openPlayer(t, stream.id, true);
  const first = publish(t, stream.streamKey);
  // hls.js gives up on an empty playlist after three seconds, and an encoder on a busy machine needs longer
  // to connect. After that, the server holds the request until the first segment.
  await hasSignal(stream.id, true);
  await player.load();
  await player.plays(FRAMES, 60_000);

  first.kill('SIGKILL');
  await first.exited;
  // The player learns that no media follows, and continues from that position.
  const isWaiting = () => player.page.evaluate<boolean>('window.isWaiting');
  await waitFor(isWaiting, { timeoutMs: 20_000, message: 'the end of what the first one sent' });
  const second = publish(t, stream.streamKey, TALL_LINES);
  const width = () => player.page.evaluate<number>('document.querySelector("video").videoWidth');
  await waitFor(async () => (await width()) > 320, { timeoutMs: 60_000, message: 'the new picture' });
  await player.plays(FRAMES, 60_000);
  assert.deepEqual(await player.fatal(), [], 'over the discontinuity');

  await partner.stop(stream.id);
  // It plays to its end without an error.
  await waitFor(async () => (await player.hasEnded()) || (await player.fatal()).length > 0, {
    timeoutMs: 60_000,
    message: 'the end',
  });
  assert.deepEqual([await player.hasEnded(), await player.fatal()], [true, []]);
  await partner.start(stream.id);
  const again = await openPlayer(t, stream.id);
  await again.plays(FRAMES, 60_000);
  assert.deepEqual(await again.fatal(), []);
  await partner.stop(stream.id);
  await second.stop();
});

test('video without keyframes plays without additional delay, and health reports the issue', async (t) => {
  const stream = await partner.createStream();
  publish(t, stream.streamKey, LINES, ['-x264-params', 'intra-refresh=1']);
  await hasSignal(stream.id, true);
  await partner.start(stream.id);
  const player = await openPlayer(t, stream.id);
  await player.plays(FRAMES, 60_000);
  assert.deepEqual(await player.fatal(), []);
  await waitFor(
    async () => Object((await partner.stream(stream.id)).health).issues?.includes('NO_KEYFRAMES'),
    {
      timeoutMs: 30_000,
      message: 'NO_KEYFRAMES in health',
    },
  );
  await partner.stop(stream.id);
});

test('analytics and usage include what the player watched and received', async () => {
  const path = `/analytics/streams/${watchedId}`;
  let told = '';
  await waitFor(
    async () => {
      const { totals } = await read(path);
      told = JSON.stringify(totals);
      return totals.watchTimeSec >= 1;
    },
    { timeoutMs: 40_000, intervalMs: 100, message: () => told },
  );
  await watching.close();
  const { totals, sessions } = await read(path);
  const { views, uniqueViewers, broadcasts, peakConcurrent } = totals;
  // The views have one IP address and one browser.
  assert.deepEqual({ views, uniqueViewers, broadcasts }, { views: 1, uniqueViewers: 1, broadcasts: 1 });
  assert.equal(peakConcurrent, 1);
  assert.deepEqual([sessions.length, sessions[0].uniqueViewers], [1, 1]);
  const { egressBytes, apiRequests } = (await read('/usage')).totals;
  assert.ok(egressBytes > 100_000 && apiRequests > 3, JSON.stringify({ egressBytes, apiRequests }));
});
