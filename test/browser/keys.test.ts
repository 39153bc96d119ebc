import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { violationsOf } from '../harness/axe.ts';
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

interface Look {
  phase: string;
  time: number;
  paused: boolean;
  muted: boolean;
  volume: number;
  scrollY: number;
  /** Seconds that can be gone back. */
  span: number;
  /** Seconds since the earliest available frame. */
  past: number;
}

const LOOK = `(() => {
  const video = document.querySelector('video');
  const { currentTime: time, paused, muted, volume, seekable } = video;
  const phase = document.querySelector('.player-stage').dataset.phase;
  const span = seekable.length === 0 ? 0 : seekable.end(0) - seekable.start(0);
  const past = seekable.length === 0 ? 0 : time - seekable.start(0);
  return { phase, time, paused, muted, volume, scrollY, span, past };
})()`;

const look = (page: Page) => page.evaluate<Look>(LOOK);

async function sees(page: Page, is: (now: Look) => boolean, what: string): Promise<void> {
  let last = '';
  const isSo = async () => {
    const now = await look(page);
    last = JSON.stringify(now);
    return is(now);
  };
  await waitFor(isSo, { timeoutMs: 15_000, intervalMs: 50, message: () => `${what}; it is ${last}` });
}

function goLive(segments?: number): void {
  site.broadcast.start(segments);
  Object.assign(site.stream, { isLive: true, hasSignal: true, liveSince: new Date() });
}

const watched = () => browser.open(`${site.url}/watch/${site.stream.id}`);

/** Page script that extends the page below the window, and adds a text input. */
const LONG_PAGE = `document.body.insertAdjacentHTML('beforeend',
  '<textarea aria-label="Note"></textarea><div style="height: 3000px"></div>')`;

test('shortcuts work before a click but not while text is entered, and a pause persists through a reconnection', async () => {
  goLive();
  site.broadcast.viewers = 1234;
  const { page, close } = await watched();
  try {
    await sees(page, ({ phase, time, past }) => phase === 'live' && time > 0 && past > 0.2, 'the picture');
    await page.locator('[data-viewers]', { hasText: '1,234 watching' }).waitFor();
    await page.evaluate(LONG_PAGE);
    await page.keyboard.press('m');
    await sees(page, ({ muted }) => muted, 'silence');
    await page.keyboard.press('Space');
    await sees(page, ({ paused }) => paused, 'a pause');
    assert.equal((await look(page)).scrollY, 0, 'Space scrolled the page');
    const before = await look(page);
    await page.keyboard.press(',');
    await sees(page, ({ time }) => Math.abs(before.time - time - 0.1) < 0.05, 'the picture before');
    await page.keyboard.press('j');
    await page.locator('textarea').focus();
    await page.keyboard.type('k m');
    assert.equal(await page.locator('textarea').inputValue(), 'k m');
    const { paused, muted, volume } = await look(page);
    assert.deepEqual([paused, muted], [true, true], 'while somebody wrote');
    await page.locator('media-control-bar media-mute-button').focus();
    await page.keyboard.press('ArrowDown');
    await sees(page, (now) => now.volume < volume, 'less sound');
    site.broadcast.mode = 'off';
    await sees(page, ({ phase }) => phase === 'ended', 'the end');
    goLive();
    await sees(page, ({ phase }) => phase === 'live', 'the next broadcast');
    assert.equal((await look(page)).paused, true);
  } finally {
    await close();
  }
});

test('a broadcast that can be watched from before has a line to seek on, statistics and a list of keys', async () => {
  site.broadcast.window = 60;
  goLive(62);
  const { page, close } = await watched();
  try {
    await sees(page, ({ phase, time, span }) => phase === 'live' && time > 0 && span > 45, 'the picture');
    await page.locator('.player-seek:not([hidden])').waitFor({ state: 'attached' });
    // The controls hide without mouse movement.
    const behind = (state: string) => page.locator(`.player-behind${state}`).waitFor({ state: 'attached' });
    await behind('[hidden]');
    const live = (await look(page)).time;
    for (let times = 0; times < 3; times++) await page.keyboard.press('j');
    await sees(page, ({ time }) => time < live - 20, 'the time before');
    await behind(':not([hidden])');
    const { time } = await look(page);
    await sees(page, (now) => now.time > time + 3, 'it goes on there');
    assert.ok((await look(page)).time < time + 10, 'it did not jump back to the present');
    await page.mouse.move(200, 150);
    await page.locator('media-live-button').click();
    await sees(page, (now) => now.time > live, 'the present');
    await behind('[hidden]');
    const present = (await look(page)).time;
    await page.keyboard.press('j');
    await behind(':not([hidden])');
    await sees(page, (now) => now.time > present - 6, 'it goes on');
    await behind(':not([hidden])');
    await page.locator('media-live-button').click();
    await behind('[hidden]');
    await page.keyboard.press('s');
    await page.getByText('Live latency').waitFor();
    await page.getByText('320 × 180').first().waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await page.keyboard.press('s');
    await page.getByText('Live latency').waitFor({ state: 'detached' });
    await page.keyboard.press('Shift+?');
    await page.getByText('Back or forward 10 seconds').waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await page.getByLabel('Use on the whole page').uncheck();
    await page.keyboard.press('Escape');
    await page.locator('h1').click();
    await page.keyboard.press('m');
    await page.locator('media-control-bar media-mute-button').focus();
    await page.keyboard.press('m');
    await sees(page, ({ muted }) => muted, 'silence by the second of two');
  } finally {
    await close();
  }
});
