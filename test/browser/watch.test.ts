import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Page } from 'playwright-core';
import { violationsInDarkScheme, violationsOf } from '../harness/axe.ts';
import { launchBrowser, type OpenOptions, type TestBrowser, type WatchedPage } from '../harness/browser.ts';
import { waitFor } from '../harness/wait-for.ts';
import { playableSnapshot } from '../videos/playable-snapshot.ts';
import { FRAME_RATE } from './broadcast.ts';
import { startSite, type TestSite, testStream } from './site.ts';

const OVER = { ended: { since: new Date(0), until: new Date(0) }, currentSessionId: 'ses_1' };
let site: TestSite;
let browser: TestBrowser;

before(async () => {
  [site, browser] = await Promise.all([startSite(), launchBrowser()]);
});
after(async () => {
  await browser?.close();
  await site?.close();
});
beforeEach(() => {
  Object.assign(site.stream, testStream());
  site.recordings.length = 0;
  site.broadcast.mode = 'off';
  site.broadcast.log.length = 0;
  site.beacons.length = 0;
});

function goLive(): void {
  site.broadcast.start();
  Object.assign(site.stream, { isLive: true, hasSignal: true, liveSince: new Date() });
}

async function withPage(
  path: string,
  use: (watched: WatchedPage) => Promise<void>,
  options: OpenOptions = {},
): Promise<void> {
  const watched = await browser.open(`${site.url}${path}`, options);
  try {
    await use(watched);
    assert.deepEqual(watched.strangers, [], 'requests to other hosts');
    // The browser logs every 404 and 503 in the console; the end of a broadcast consists of those.
    const errors = watched.errors.filter(
      (error) => !/status of (404|503) .*\/live\/.*\.(m3u8|m4s|jpg)\)$/.test(error),
    );
    assert.deepEqual(errors, []);
  } finally {
    await watched.close();
  }
}

const watchPath = () => `/watch/${site.stream.id}`;

function phaseOf(page: Page): Promise<string | null> {
  return page.locator('.player-stage').getAttribute('data-phase');
}

async function reaches(page: Page, phase: string, timeoutMs = 15_000): Promise<void> {
  let last: string | null = null;
  await waitFor(
    async () => {
      last = await phaseOf(page);
      return last === phase;
    },
    { timeoutMs, intervalMs: 50, message: () => `phase ${phase}; it is ${last}` },
  );
}

const FRAMES = 'document.querySelector("video").getVideoPlaybackQuality().totalVideoFrames';

function framesOf(page: Page): Promise<number> {
  return page.evaluate<number>(FRAMES);
}

/** Waits for one more second of playback. */
async function plays(page: Page): Promise<void> {
  const before = await framesOf(page);
  await waitFor(async () => (await framesOf(page)) > before + FRAME_RATE, {
    timeoutMs: 10_000,
    intervalMs: 50,
    message: 'decoded frames to grow',
  });
}

function videoOf(page: Page): Promise<{ muted: boolean; paused: boolean }> {
  return page.evaluate<{ muted: boolean; paused: boolean }>(
    '(({ muted, paused }) => ({ muted, paused }))(document.querySelector("video"))',
  );
}

test('a waiting viewer sees the broadcast start, end, and start again', async () => {
  await withPage(watchPath(), async ({ page }) => {
    await reaches(page, 'offline');
    assert.equal(await page.locator('.badge').textContent(), 'Offline');
    goLive();
    await reaches(page, 'live');
    await plays(page);
    assert.equal(await page.locator('.badge').textContent(), 'Live');
    assert.deepEqual(await videoOf(page), { muted: false, paused: false });

    site.broadcast.mode = 'off';
    await reaches(page, 'ended', 5000);
    await page.getByText('The broadcast has ended.').first().waitFor({ state: 'visible' });
    assert.equal(
      await page.locator('.player-status').textContent(),
      await page.locator('.player-panel-message').textContent(),
    );
    assert.equal((await videoOf(page)).paused, true);
    assert.equal(await page.locator('.badge').textContent(), 'Ended');

    goLive();
    await reaches(page, 'live');
    await plays(page);
  });
});

/** Page script that records the last displayed frame, and the end of the broadcast. */
const SEE_END = `(() => {
  const video = document.querySelector('video');
  const see = (_now, { mediaTime }) => {
    window.shownSec = mediaTime;
    video.requestVideoFrameCallback(see);
  };
  video.requestVideoFrameCallback(see);
  // Before the player lets go of it.
  document.addEventListener('ended', () => { window.endSec = video.duration; }, true);
})()`;

test('the broadcast is shown to its last second before it has ended', async () => {
  goLive();
  await withPage(watchPath(), async ({ page }) => {
    await plays(page);
    await page.evaluate(SEE_END);
    site.broadcast.mode = 'ending';
    await reaches(page, 'ended', 60_000);
    const [shownSec = 0, endSec = 0] = await page.evaluate<number[]>('[window.shownSec, window.endSec]');
    assert.ok(endSec > 0 && shownSec > endSec - 1, `shown to ${shownSec} of ${endSec} s`);
    const last = site.broadcast.log.filter((line) => line.startsWith('200 s_')).at(-1);
    assert.equal(last, `200 ${site.broadcast.lastSegment()}`);
    assert.equal(await page.locator('.badge').textContent(), 'Ended');
  });
});

test('a viewer of the end is offered the recording once it exists, until the next broadcast', async () => {
  goLive();
  await withPage(watchPath(), async ({ page }) => {
    await reaches(page, 'live');
    site.broadcast.mode = 'off';
    const recording = playableSnapshot();
    const ended = { since: new Date(), until: new Date() };
    Object.assign(site.stream, { isLive: false, ended, currentSessionId: 'ses_1' });
    await reaches(page, 'ended');
    const link = page.getByRole('link', { name: 'Watch the recording' });
    assert.equal(await link.count(), 0);
    site.recordings.push(recording);
    await link.waitFor({ state: 'visible', timeout: 30_000 });
    assert.match((await link.getAttribute('href')) ?? '', new RegExp(`/watch/${recording.id}$`));
    goLive();
    await reaches(page, 'live');
    assert.equal(await link.count(), 0);
  });
});

/** Page script that shortens timeouts from `fromMs` up to a minute and a half to `toMs`. */
const hurried = (fromMs: number, toMs: number) => `(() => {
  const { setTimeout } = window;
  window.setTimeout = (run, ms, ...more) => setTimeout.call(window, run, ms >= ${fromMs} && ms <= 90000 ? ${toMs} : ms, ...more);
})()`;

test('a recording that takes long is offered as well, and each part of a long broadcast', async () => {
  Object.assign(site.stream, OVER);
  const use = async ({ page }: WatchedPage) => {
    let asked = 0;
    page.on('request', (request) => {
      if (request.url() === page.url()) asked += 1;
    });
    await waitFor(() => asked > 40, { timeoutMs: 20_000, message: () => `more than ${asked} looks` });
    site.recordings.push(playableSnapshot({ id: 'vid_1' }), playableSnapshot({ id: 'vid_2', rungs: [] }));
    await page.getByRole('link', { name: 'Watch the recording, part 1' }).waitFor();
    site.recordings[1] = playableSnapshot({ id: 'vid_2' });
    await page.getByRole('link', { name: 'part 2' }).waitFor();
  };
  await withPage(watchPath(), use, { initScript: hurried(1500, 50) });
});

test('a planned start is counted down in the zone of the visitor, follows a new plan, and becomes the player', async () => {
  const startMs = performance.timeOrigin + performance.now() + 3_700_000;
  site.stream.scheduledStartAt = new Date(startMs);
  const options = { timezoneId: 'Asia/Kolkata', locale: 'en-GB', initScript: hurried(30_000, 1000) };
  await withPage(
    watchPath(),
    async ({ page }) => {
      await reaches(page, 'offline');
      const minute = new Intl.DateTimeFormat('en-GB', { minute: '2-digit', timeZone: 'Asia/Kolkata' });
      const message = (await page.locator('.player-panel-message').textContent()) ?? '';
      assert.match(message, /^Starts .*GMT\+5:30\.$/);
      assert.ok(message.includes(`:${minute.format(startMs).padStart(2, '0')}`), message);
      const left = () => page.locator('.player-panel-countdown').textContent();
      const first = (await left()) ?? '';
      assert.match(first, /^01:01:\d\d$/);
      await waitFor(async () => (await left()) !== first, { message: 'the next second' });
      site.stream.scheduledStartAt = new Date(startMs + 2 * 86_400_000);
      await waitFor(async () => /^2 days 01:01:\d\d$/.test((await left()) ?? ''), {
        message: 'the new plan',
      });
      site.stream.scheduledStartAt = null;
      await page.locator('.player-panel-countdown').waitFor({ state: 'hidden' });
      goLive();
      await reaches(page, 'live');
      await plays(page);
      assert.equal(await page.locator('.badge').textContent(), 'Live');
    },
    options,
  );
});

test('a page opened during a broadcast plays immediately, and waits through an empty playlist', async () => {
  goLive();
  site.broadcast.mode = 'empty';
  await withPage(watchPath(), async ({ page }) => {
    await waitFor(() => site.broadcast.log.filter((line) => line === '200 index.m3u8').length >= 2);
    assert.equal(await phaseOf(page), 'starting');
    goLive();
    await reaches(page, 'live');
    await plays(page);
  });
});

/** Reduces the 15 seconds between beacons to half a second. */
const HURRY = `(() => {
  const { setInterval } = window;
  window.setInterval = (run, ms) => setInterval.call(window, run, ms === 15000 ? 500 : ms);
})()`;

test('the player sends a beacon every 15 seconds of playback, on pause and on close', async () => {
  goLive();
  const told = () => site.beacons.map((beacon) => beacon.split(' ')[2]);
  const tells = (...kinds: string[]) =>
    waitFor(() => told().join().includes(kinds.join()), { message: () => told().join() });
  await withPage(
    `/embed/${site.stream.id}`,
    async ({ page }) => {
      await plays(page);
      await tells('PLAY', 'TICK', 'TICK');
      await page.evaluate('document.querySelector("video").pause()');
      await tells('PAUSE');
      await page.evaluate('document.querySelector("video").play()');
      await tells('PAUSE', 'PLAY', 'TICK');
      await page.goto('about:blank');
      await tells('END');
    },
    { initScript: HURRY },
  );
  const numbers = new Set(site.beacons.map((beacon) => Number(beacon.split(' ')[0])));
  assert.deepEqual(
    [...numbers],
    Array.from(numbers, (_n, index) => index),
  );
  const isFact = new RegExp(`^\\d+ ${site.stream.id} [A-Z]+ \\d+$`);
  for (const beacon of site.beacons) assert.match(beacon, isFact);
});

test('an interruption keeps the last frame, shows a message, and playback continues', async () => {
  goLive();
  await withPage(watchPath(), async ({ page }) => {
    await plays(page);
    site.broadcast.mode = 'frozen';
    await reaches(page, 'interrupted', 25_000);
    await page.getByText('The signal was interrupted.').first().waitFor({ state: 'visible' });
    site.broadcast.mode = 'on';
    await reaches(page, 'live');
    await plays(page);
  });
});

test('a server out of reach is tried again with growing pauses', async () => {
  goLive();
  await withPage(watchPath(), async ({ page }) => {
    await plays(page);
    site.broadcast.mode = 'broken';
    await reaches(page, 'reconnecting', 25_000);
    const asked = site.broadcast.log.length;
    await page.waitForTimeout(4000);
    assert.ok(site.broadcast.log.length - asked <= 4, 'at most one request a second');
    site.broadcast.mode = 'on';
    await reaches(page, 'live', 20_000);
    await plays(page);
  });
});

/**
 * Simulates the usual autoplay policy. Chromium's own cannot be used: every evaluation by the test counts as
 * a user gesture.
 */
const REFUSE_SOUND = `
  const play = HTMLMediaElement.prototype.play;
  let isTouched = false;
  addEventListener('click', () => { isTouched = true; }, true);
  HTMLMediaElement.prototype.play = function () {
    if (this.muted || isTouched) return play.call(this);
    return Promise.reject(new DOMException('play() needs a gesture', 'NotAllowedError'));
  };`;

test('playback starts muted where audio needs a gesture, and a button unmutes it', async () => {
  goLive();
  await withPage(
    watchPath(),
    async ({ page }) => {
      await plays(page);
      assert.equal((await videoOf(page)).muted, true);
      await page.getByRole('button', { name: 'Unmute', exact: true }).click();
      assert.equal((await videoOf(page)).muted, false);
      await page.getByRole('button', { name: 'Unmute' }).waitFor({ state: 'hidden' });
      await plays(page);
    },
    { initScript: REFUSE_SOUND },
  );
});

test('viewers who prefer reduced motion start playback themselves', async () => {
  goLive();
  await withPage(
    watchPath(),
    async ({ page }) => {
      await reaches(page, 'live');
      assert.equal((await videoOf(page)).paused, true);
      await page.locator('.player-big-play').click();
      await plays(page);
    },
    { reducedMotion: 'reduce' },
  );
});

test('the embed plays muted in a page of another site, and the watch page cannot be framed', async () => {
  goLive();
  const host = site.url.replace('127.0.0.1', 'localhost');
  const embedded = await browser.open(`${host}/framed/embed/${site.stream.id}`);
  try {
    await waitFor(
      async () => {
        const frame = embedded.page.frames().find((candidate) => candidate.parentFrame() !== null);
        return frame?.evaluate<boolean>(`document.querySelector("video").muted && ${FRAMES} > 10`);
      },
      { timeoutMs: 15_000, message: 'frames in the embed' },
    );
  } finally {
    await embedded.close();
  }
  const framed = await browser.open(`${host}/framed/watch/${site.stream.id}`);
  try {
    await waitFor(() => framed.errors.some((error) => error.includes('frame-ancestors')));
  } finally {
    await framed.close();
  }
});

/** Width of the page, and height of its lowest target (44 when all are higher). */
const MEASURE = `(() => {
  const targets = document.querySelectorAll('a.brand, .button, .player-unmute, media-control-bar > :not(span)');
  const boxes = [...targets].map((target) => target.getBoundingClientRect());
  const heights = boxes.filter((box) => box.width > 0 && box.top >= 0).map((box) => box.height);
  return [document.documentElement.scrollWidth, Math.min(44, ...heights)];
})()`;

test('no page has an accessibility violation, overflow or small target', async () => {
  const small: OpenOptions = { colorScheme: 'light', viewport: { width: 390, height: 844 } };
  const check = (path: string, phase: string | null) =>
    withPage(
      path,
      async ({ page }) => {
        if (phase !== null) await reaches(page, phase);
        await page.mouse.move(200, 150);
        assert.deepEqual(await violationsOf(page), [], `${path} ${phase}`);
        const [width, smallest] = await page.evaluate<number[]>(MEASURE);
        assert.equal(width, 390, `${path} is wider than the screen`);
        assert.ok(smallest !== undefined && smallest >= 44, `${path} has a target of ${smallest} px`);
        assert.deepEqual(await violationsInDarkScheme(page), [], `${path} ${phase}, dark`);
      },
      small,
    );
  site.recordings.push(playableSnapshot());
  Object.assign(site.stream, OVER);
  await check(watchPath(), 'ended');
  await check(`/embed/${site.stream.id}`, 'ended');
  site.stream.ended = null;
  site.stream.scheduledStartAt = new Date(performance.timeOrigin + 86_400_000);
  await check(watchPath(), 'offline');
  await check('/', null);
  await check(`/embed/${site.stream.id}`, 'offline');
  goLive();
  await check(watchPath(), 'live');
  await check(`/embed/${site.stream.id}`, 'live');
});
