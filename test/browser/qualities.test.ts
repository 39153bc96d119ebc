import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launchBrowser, type TestBrowser } from '../harness/browser.ts';
import { waitFor } from '../harness/wait-for.ts';
import { startSite, type TestSite } from './site.ts';

let site: TestSite;
let browser: TestBrowser;
before(async () => {
  [site, browser] = await Promise.all([startSite(), launchBrowser()]);
});
after(async () => {
  await browser?.close();
  await site?.close();
});

const QUALITIES =
  '[...document.querySelector("video").videoRenditions].map(({ height }) => height).sort((a, b) => a - b).join()';
const FRAMES = 'document.querySelector("video").getVideoPlaybackQuality().totalVideoFrames';

test('the quality menu offers the renditions of the current encoder signal', async () => {
  site.broadcast.start();
  Object.assign(site.stream, { isLive: true, hasSignal: true, liveSince: new Date() });
  const { page, errors } = await browser.open(`${site.url}/watch/${site.stream.id}`);
  const offers = (expected: string) =>
    waitFor(async () => (await page.evaluate<string>(QUALITIES)) === expected, {
      ...{ timeoutMs: 20_000, message: expected },
    });
  const plays = async () => {
    const before = await page.evaluate<number>(FRAMES);
    await waitFor(async () => (await page.evaluate<number>(FRAMES)) > before + 5, { message: 'the picture' });
  };
  await offers('180');
  site.broadcast.change({ src: 360, '180': 180 });
  await offers('180,360');
  await page.locator('.player-stage[data-phase=live]').waitFor();
  await plays();
  await page.evaluate(`window.wasInterrupted = false;
    document.addEventListener('marquee-phase', () => { window.wasInterrupted = true; });`);
  site.broadcast.change({ src: 270 });
  await offers('270');
  await plays();
  assert.equal(await page.evaluate('window.wasInterrupted'), false, 'nothing new has come');
  assert.deepEqual(
    errors.filter((error) => !error.includes('.jpg')),
    [],
  );
});
