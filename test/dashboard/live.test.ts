import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Frame, Page } from 'playwright-core';
import {
  assertAccessibleInBothSchemes,
  type MediaPlatform,
  startMediaPlatform,
} from '../harness/dashboard.ts';
import { waitFor } from '../harness/wait-for.ts';
import { startPublisher } from '../rtmp/publisher.ts';

const TITLE = `${'ليلة الجمعة على الهواء '.repeat(5)}${'星期五晚上直播'.repeat(8)} ${'🎬🎉'.repeat(3)}`;
const SLOW = { timeout: 60_000 };

let media: MediaPlatform;
before(async () => {
  media = await startMediaPlatform();
});
after(() => media?.close());

const status = (page: Page, words: RegExp) =>
  page
    .getByRole('region', { name: 'Broadcast' })
    .getByRole('status')
    .filter({ hasText: words })
    .waitFor(SLOW);

/** Waits until the player of a page has shown more than one frame. */
async function plays(page: Page | Frame): Promise<void> {
  await page
    .locator('video')
    .first()
    .waitFor({ state: 'attached', ...SLOW });
  await waitFor(() => page.evaluate<boolean>('document.querySelector("video").currentTime > 0.2'), {
    timeoutMs: 30_000,
    message: 'a picture',
  });
}

async function createStream(page: Page): Promise<string> {
  await page.getByRole('heading', { name: 'No streams yet' }).waitFor(SLOW);
  await page.getByRole('button', { name: 'New stream' }).first().click();
  await page.getByLabel('Title').fill(TITLE);
  await page.getByRole('button', { name: 'Create stream' }).click();
  await page.getByRole('heading', { level: 1, name: TITLE.trim() }).waitFor(SLOW);
  return new URL(page.url()).pathname.split('/').at(-1) ?? '';
}

async function startEncoder(page: Page) {
  const full = page.getByLabel('Full URL (server and key)', { exact: true });
  assert.match(await full.inputValue(), /•{8,}$/);
  await page.getByRole('button', { name: 'Show the key' }).click();
  const url = await full.inputValue();
  assert.match(url, /^rtmp:.*\/live\/[\w-]{20,}$/);
  return startPublisher({ url: url.replace('localhost', '127.0.0.1'), width: 320, height: 180, fps: 15 });
}

test('a stream goes live from an encoder, and stops', async (t) => {
  assert.ok(TITLE.length <= 200 && TITLE.length > 180);
  await media.visit('/live', async (page) => {
    const id = await createStream(page);
    await status(page, /You're offline/);
    const encoder = await startEncoder(page);
    t.after(() => encoder.stop());

    await status(page, /Only you can see it/);
    const frame = await (await page.locator('iframe').elementHandle(SLOW))?.contentFrame();
    assert.ok(frame);
    await plays(frame);
    const signal = page.getByRole('region', { name: 'Signal' });
    await signal.getByText('320 × 180').waitFor(SLOW);
    await signal.getByText('H.264').waitFor(SLOW);
    await signal.getByText('4 to 5 s').waitFor(SLOW);
    await assertAccessibleInBothSchemes(page, 'a stream with a signal');

    const viewer = await media.watch(`/watch/${id}`);
    t.after(() => viewer.close());
    await viewer.page.getByText('The broadcast has not started yet.').first().waitFor(SLOW);
    await page.getByRole('button', { name: 'Go live' }).click();
    await status(page, /You are live/);
    await plays(viewer.page);

    const stop = { name: 'Stop broadcast' };
    await page.getByRole('button', stop).click();
    const dialog = page.getByRole('dialog', { name: 'Stop the broadcast?' });
    await dialog.getByText('It ends for all viewers immediately.').waitFor();
    await dialog.getByRole('button', stop).click();
    await status(page, /Only you can see it/);
    await viewer.page.getByText('Ended').first().waitFor(SLOW);
    await waitFor(() => viewer.page.evaluate<boolean>('document.querySelector("video").paused'));
    assert.deepEqual(viewer.strangers, []);

    await page.getByRole('tab', { name: 'Broadcasts' }).click();
    await page
      .getByRole('table')
      .getByText(/^0:\d\d$/)
      .waitFor(SLOW);
    await page.getByRole('button', { name: 'Reset stream key' }).click();
    const rotation = page.getByRole('dialog', { name: 'Reset the stream key?' });
    await rotation.getByText('the connected encoder is disconnected').waitFor();
    await rotation.getByRole('button', { name: 'Reset stream key' }).click();
    await encoder.exited;
    await status(page, /You're offline/);
  });
});

test('stream settings are saved, and deleting a stream asks for confirmation', async () => {
  const { id } = await media.call('POST', '/streams', { title: 'Kept for later', visibility: 'PRIVATE' });
  await media.visit(`/live/${id}?tab=settings`, async (page) => {
    await page.getByLabel('Title').fill('Kept for good');
    await page.getByLabel('Stop after signal loss (seconds)').fill('90');
    await page.getByRole('switch', { name: /^Record/ }).check();
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByRole('heading', { level: 1, name: 'Kept for good' }).waitFor(SLOW);
    await assertAccessibleInBothSchemes(page, 'the settings of a stream');
    const kept = await media.call('GET', `/streams/${id}`);
    assert.deepEqual([kept.autoStopAfterSec, kept.record, kept.visibility], [90, true, 'PRIVATE']);

    await page.getByRole('button', { name: 'Delete stream' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete this stream?' });
    await dialog.getByText('Recordings remain available as videos.').waitFor();
    await dialog.getByRole('button', { name: 'Delete stream' }).click();
    await page.getByRole('heading', { level: 1, name: 'Live streams' }).waitFor(SLOW);
    await page.getByRole('link', { name: TITLE.trim() }).waitFor(SLOW);
    assert.equal(await page.getByRole('link', { name: 'Kept for good' }).count(), 0);
    await assertAccessibleInBothSchemes(page, 'the list of streams');
  });
});
