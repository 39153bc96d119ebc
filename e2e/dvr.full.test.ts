import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { readerOf, startCamera } from '../bench/support/camera.ts';
import { launchBrowser, type TestBrowser } from '../test/harness/browser.ts';
import { createPartner } from '../test/harness/partner.ts';
import { freePort, startPlatform } from '../test/harness/platform.ts';
import { NO_S3, startS3 } from '../test/harness/s3.ts';
import { waitFor } from '../test/harness/wait-for.ts';

const KEYFRAME_SEC = 2;
/**
 * Longer than the live window plus the minute for which its files are retained, so that earlier parts come
 * from the store.
 */
const BEGUN_SEC = 130;
/** Distance behind live, in seconds, at which the seek bar is clicked. */
const CLICK_SEC = 115;
const FAR_SEC = 95;
const BACK_SEC = 20;
const LIVE_SEC = 9;

let browser: TestBrowser;
before(async () => {
  browser = await launchBrowser();
});
after(() => browser?.close());

/** Waits for a few more frames, and then for one of the expected age by the clock in the video. */
async function shows(page: Page, isSo: (ageSec: number) => boolean, what: string): Promise<void> {
  await page.evaluate('window.delays.length = 0');
  let age: number | null = null;
  const look = async () => {
    const delays = await page.evaluate<[number, number][]>('window.delays');
    const newest = delays.at(-1);
    age = newest === undefined ? null : newest[1] / 1000;
    return age !== null && delays.length > 30 && isSo(age);
  };
  await waitFor(look, { timeoutMs: 30_000, intervalMs: 100, message: () => `${what}; it is ${age} s old` });
}

/** Clicks the seek bar `sec` seconds before its end. */
async function clickBack(page: Page, sec: number): Promise<void> {
  await page.mouse.move(200, 150);
  const line = page.locator('media-time-range');
  await line.waitFor({ state: 'visible' });
  const { width = 0 } = (await line.boundingBox()) ?? {};
  const lengthSec = await page.evaluate<number>(
    '(({ seekable }) => seekable.end(seekable.length - 1) - seekable.start(0))(document.querySelector("video"))',
  );
  assert.ok(lengthSec > sec, `${lengthSec} s can be gone back`);
  await line.click({ position: { x: width * (1 - sec / lengthSec), y: 10 } });
}

/** Seeks back on a real page, by the seek bar and by key, and returns to live; then stops the broadcast. */
async function goesBack(t: TestContext, environment: Record<string, string>) {
  const port = await freePort();
  // The page and its links have one origin.
  const PUBLIC_URL = `http://127.0.0.1:${port}`;
  const platform = await startPlatform({ port, environment: { ...environment, PUBLIC_URL } });
  t.after(() => platform.stop());
  const partner = createPartner(platform);
  const settings = { dvrWindowSec: 300, record: true, recordVisibility: 'PUBLIC' };
  const stream = await partner.createStream(settings);
  await partner.start(stream.id);
  const camera = startCamera(`rtmp://127.0.0.1:${platform.rtmpPort}/live/${stream.streamKey}`, KEYFRAME_SEC);
  t.after(() => camera.stop());
  const playlist = async () => (await fetch(`${platform.url}/live/${stream.id}/src/index.m3u8`)).text();
  const lengthOf = (text: string) =>
    [...text.matchAll(/^#EXTINF:([\d.]+)/gm)].reduce((sum, [, part]) => sum + Number(part), 0);
  await waitFor(async () => lengthOf(await playlist()) > BEGUN_SEC, { timeoutMs: 200_000, intervalMs: 500 });
  const watched = await browser.open(`${platform.url}/watch/${stream.id}`, { initScript: readerOf(600) });
  t.after(watched.close);
  const { page } = watched;
  const isLive = (age: number) => age < LIVE_SEC;
  const isOld = (age: number) => age > BACK_SEC;
  const isFar = (age: number) => age > FAR_SEC;
  await shows(page, isLive, 'what is live');
  await clickBack(page, CLICK_SEC);
  await shows(page, isFar, 'what was long before');
  assert.match((await page.locator('.player-behind').textContent()) ?? '', /^−\d+:\d\d$/);
  await page.mouse.move(220, 160);
  await page.locator('media-live-button').click();
  await shows(page, isLive, 'what is live again');
  await page.keyboard.press('j');
  await shows(page, (age) => age > LIVE_SEC, 'what was 10 s before');
  for (const _ of [1, 2]) await page.keyboard.press('j');
  await shows(page, isOld, 'what was 30 s before');
  await page.locator('media-live-button').click();
  await shows(page, isLive, 'what is live, for the third time');

  const body = { startSec: 2, endSec: 12, title: 'From the beginning' };
  const { data } = await partner.call('POST', `/streams/${stream.id}/clips`, body);
  const clip = await partner.videoWhen(String(Object(data).id), ({ status }) => status === 'READY', 120_000);
  assert.ok(Math.abs((clip.durationSec ?? 0) - 10) < 0.2, `${clip.durationSec} s`);
  assert.deepEqual(watched.errors, []);
  await partner.stop(stream.id);
  const offer = page.locator('.player-panel-recording a');
  await offer.waitFor({ timeout: 180_000 });
  const led = await fetch(stream.playbackUrl, { redirect: 'manual' });
  const recordingId = /\/v\/(vid_\w+)\/master\.m3u8$/.exec(led.headers.get('location') ?? '')?.[1];
  assert.equal(led.status, 302);
  await offer.click();
  await page.waitForURL(`**/watch/${recordingId}`);
  const plays = () =>
    page.evaluate<boolean>(
      `(({ currentTime, duration }) => currentTime > 1 && duration > ${BEGUN_SEC})(document.querySelector('video') ?? {})`,
    );
  await waitFor(plays, { timeoutMs: 60_000, intervalMs: 200, message: 'the recording plays' });
  // The browser logs a 404 for each check whether the broadcast is live.
  const isNoBroadcast = (error: string) => error.includes(`404 (Not Found) (${stream.playbackUrl})`);
  assert.deepEqual(
    watched.errors.filter((error) => !isNoBroadcast(error)),
    [],
  );
  return watched;
}

test('a viewer seeks back, returns to live, and is offered the recording', async (t) => {
  const { strangers } = await goesBack(t, {});
  assert.deepEqual(strangers, []);
});

test('a viewer seeks back to media stored in a bucket', async (t) => {
  const s3 = await startS3();
  if (s3 === null) return t.skip(NO_S3);
  t.after(() => s3.close());
  const { strangers } = await goesBack(t, {
    S3_ENDPOINT: s3.endpoint,
    S3_BUCKET: s3.bucket,
    S3_REGION: s3.region,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    S3_PATH_STYLE: 'true',
  });
  const kept = strangers.filter((url) => url.startsWith(`${s3.endpoint}/`));
  assert.ok(
    kept.some((url) => url.includes('/dvr/') && url.includes('.m4s')),
    'segments out of the bucket',
  );
  assert.deepEqual(strangers, kept);
});
