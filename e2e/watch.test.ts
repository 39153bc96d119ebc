import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launchBrowser, type TestBrowser } from '../test/harness/browser.ts';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { until } from '../test/harness/wait.ts';
import { startPublisher } from '../test/rtmp/publisher.ts';

let platform: RunningPlatform;
let browser: TestBrowser;
let partner: Partner;

before(async () => {
  platform = await startPlatform();
  browser = await launchBrowser();
  partner = createPartner(platform);
});

after(async () => {
  await browser?.close();
  await platform?.stop();
});

test('Chromium plays the live stream on the watch page; after the stop it ends', async (t) => {
  const stream = await partner.createStream({ title: 'Seen in a browser' });
  const encoder = startPublisher({
    url: `rtmp://127.0.0.1:${platform.rtmpPort}/live/${stream.streamKey}`,
    width: 320,
    height: 180,
    fps: 15,
  });
  t.after(() => encoder.stop());
  const { page, errors, close } = await browser.open(`${platform.url}/watch/${stream.id}`);
  t.after(close);
  const phase = () => page.locator('.player-stage').getAttribute('data-phase');
  await until(async () => (await phase()) === 'offline', {
    timeoutMs: 10_000,
    message: 'the offline poster',
  });

  await until(async () => (await partner.stream(stream.id)).hasSignal, { timeoutMs: 10_000 });
  await partner.start(stream.id);
  const frames = () =>
    page.evaluate<number>('document.querySelector("video")?.getVideoPlaybackQuality().totalVideoFrames ?? 0');
  await until(async () => (await phase()) === 'live' && (await frames()) > 0, {
    timeoutMs: 20_000,
    message: () => `a picture; ${errors.join(' ')}`,
  });
  const seen = await frames();
  await until(async () => (await frames()) >= seen + 15, { timeoutMs: 10_000, message: 'growing frames' });

  await partner.stop(stream.id);
  await until(async () => (await phase()) === 'ended', { timeoutMs: 40_000, message: 'the end' });
  const last = await frames();
  await until(async () =>
    page.locator('video').evaluate((video) => 'paused' in video && video.paused === true),
  );
  assert.ok((await frames()) <= last + 5, 'nothing is played after the end');
});
