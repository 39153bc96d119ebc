import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { after, before, test } from 'node:test';
import type { Frame, Page } from 'playwright-core';
import { VIDEO_TOPIC } from '../../src/features/video/videos/with-locked-video.ts';
import { startTestApp, type TestApp } from '../harness/app.ts';
import { violationsInDarkScheme, violationsOf } from '../harness/axe.ts';
import { launchBrowser, type OpenOptions, type TestBrowser, type WatchedPage } from '../harness/browser.ts';
import type { TestAccount } from '../harness/factories.ts';
import { NO_S3, startS3 } from '../harness/s3.ts';
import { waitFor } from '../harness/wait-for.ts';
import { addCaption, addVideo, av1Renditions, encodedFiles, type VideoFixture } from '../videos/fixture.ts';

const CHAPTERS = [
  { startSec: 0, title: 'Tuning' },
  { startSec: 6, title: 'The first piece' },
];

let app: TestApp;
let account: TestAccount;
let key: string;
let files: VideoFixture;
let browser: TestBrowser;
let site: Server;
/** URL of a page of another origin. */
let elsewhere: string;

before(async () => {
  [app, browser, files] = await Promise.all([startTestApp(), launchBrowser(), encodedFiles()]);
  ({ account, key } = await app.createKey());
  const hls = await readFile(new URL(import.meta.resolve('hls.js/dist/hls.min.js')));
  site = createServer((request, response) => {
    const isScript = request.url === '/hls.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? hls : FOREIGN_PAGE);
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  const address = site.address();
  elsewhere = `http://localhost:${typeof address === 'object' && address !== null ? address.port : 0}`;
});
after(async () => {
  await browser?.close();
  await app?.close();
  site?.closeAllConnections();
  site?.close();
});

/** Page that embeds `?frame=`, or plays `?src=` with hls.js. */
const FOREIGN_PAGE = `<!doctype html><video muted playsinline></video><script src="/hls.js"></script><script>
  const asked = new URLSearchParams(location.search);
  window.fatal = [];
  if (asked.has('frame')) {
    const frame = document.createElement('iframe');
    frame.src = asked.get('frame');
    frame.allow = 'autoplay';
    document.body.append(frame);
  } else {
    const video = document.querySelector('video');
    const hls = new Hls();
    hls.on(Hls.Events.ERROR, (_, data) => { if (data.fatal) window.fatal.push(data.details); });
    hls.loadSource(asked.get('src'));
    hls.attachMedia(video);
    hls.on(Hls.Events.MANIFEST_PARSED, () => video.play());
  }
</script>`;

async function withPage(
  url: string,
  use: (watched: WatchedPage) => Promise<void>,
  options: OpenOptions = {},
) {
  const watched = await browser.open(url, options);
  try {
    await use(watched);
  } finally {
    await watched.close();
  }
}

type Target = Page | Frame;
const timeOf = (page: Target) => page.evaluate<number>('document.querySelector("video").currentTime');
const heightOf = (page: Target) => page.evaluate<number>('document.querySelector("video").videoHeight');
const phaseOf = (page: Target) => page.locator('.player-stage').getAttribute('data-phase');

/** Waits for half a second of playback. */
async function plays(page: Target): Promise<void> {
  const from = await timeOf(page);
  await waitFor(async () => (await timeOf(page)) > from + 0.5, {
    timeoutMs: 15_000,
    intervalMs: 50,
    message: 'time to pass',
  });
}

/** User agent of a normal browser; that of the tests identifies itself as a bot. */
const PERSON =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';

/** Waits until these usage events of non-bots and these player events have been recorded. */
async function tellsFacts(id: string, kinds: string[], events: string[]): Promise<void> {
  const { sql } = app.container;
  let lack: string[] = [];
  const isThere = async () => {
    const rows = await sql<{ kind: string; browser: string; player_events: { type: string }[] | null }[]>`
      select kind, browser, player_events from usage_event where subject_id = ${id}`;
    // Beacons sent while the page closes have the browser's real user agent.
    const told = rows.flatMap((row) => row.player_events ?? []).map(({ type }) => type);
    const ofPeople = rows.filter(({ browser }) => browser === 'Chrome').map(({ kind }) => kind);
    const there = new Set([...ofPeople, ...told]);
    lack = [...kinds, ...events].filter((one) => !there.has(one));
    return lack.length === 0;
  };
  await waitFor(isThere, { message: () => `facts of ${id}: ${lack}` });
}

const choose = (page: Page, menu: string, item: string) =>
  page.evaluate(
    `(() => {
      const menu = document.querySelector('${menu}');
      const item = [...menu.querySelectorAll('media-chrome-menu-item'), ...menu.shadowRoot.querySelectorAll('media-chrome-menu-item')]
        .find((one) => one.textContent.trim() === '${item}');
      item.click();
    })()`,
  );

/** Returns the fixture with a second language, and with surround audio of the first. */
function withLanguages({ renditions, ...rest }: VideoFixture): VideoFixture {
  const english = { track: 0, label: 'English', language: 'en' };
  const stereo = renditions.filter(({ kind }) => kind === 'AUDIO');
  const sounds = stereo.flatMap((one) => [
    { ...one, sound: { ...english, channels: 2 } },
    { ...one, name: 'audio-surround', bitrate: 384_000, sound: { ...english, channels: 6 } },
    { ...one, name: 'audio-1', sound: { track: 1, label: 'Ton: Deutsch', language: 'de', channels: 2 } },
  ]);
  return { ...rest, renditions: [...renditions.filter(({ kind }) => kind === 'VIDEO'), ...sounds] };
}

test('a viewer plays, seeks, sees the storyboard and captions, changes quality and language, and is counted', async () => {
  const chapters = JSON.stringify(CHAPTERS);
  const id = await addVideo(app.container, account, withLanguages(files), { chapters });
  await addCaption(app.container, account, id);
  await withPage(
    `${app.url}/watch/${id}`,
    async ({ page, errors, strangers }) => {
      const counted = page.waitForRequest((request) => request.url().endsWith(`/videos/${id}/views`));
      await waitFor(async () => (await phaseOf(page)) === 'live', {
        timeoutMs: 15_000,
        message: () => errors.join(' '),
      });
      await plays(page);

      await page.locator('.chapters a').nth(1).click();
      await waitFor(async () => (await timeOf(page)) > 6);
      await plays(page);
      assert.equal(new URL(page.url()).search, '', 'the page has stayed');

      await page.locator('media-time-range').hover({ position: { x: 100, y: 10 } });
      const preview = page.locator('media-time-range');
      await waitFor(async () =>
        (await preview.getAttribute('mediapreviewimage'))?.includes('/img/sb_001.jpg'),
      );
      assert.equal(await preview.getAttribute('mediapreviewchapter'), 'Tuning');

      await page.locator('media-captions-button').click();
      await page.evaluate('document.querySelector("marquee-player").seek(4.5)');
      await waitFor(
        () =>
          page.evaluate<boolean>(
            '[...document.querySelector("video").textTracks].some((track) => track.mode === "showing" && track.activeCues?.[0]?.text === "Still here")',
          ),
        { timeoutMs: 8000, message: 'the caption' },
      );

      const german = page.waitForRequest((request) => request.url().includes('/audio-1/s_'));
      await choose(page, 'media-audio-track-menu', 'Ton: Deutsch');
      await german;
      assert.deepEqual(
        await page.evaluate(
          '[...document.querySelector("video").audioTracks].map((one) => [one.language, one.enabled])',
        ),
        [
          ['en', false],
          ['de', true],
        ],
      );
      await plays(page);

      const qualities = page.locator('media-rendition-menu media-chrome-menu-item');
      assert.equal(await qualities.count(), 3, 'surround is no quality, and there is Auto');
      await choose(page, 'media-rendition-menu', '180p');
      await page.evaluate('document.querySelector("marquee-player").seek(1)');
      await waitFor(async () => (await heightOf(page)) === 180, { timeoutMs: 10_000, message: '180 lines' });
      await plays(page);
      await choose(page, 'media-playback-rate-menu', '2x');
      assert.equal(await page.evaluate('document.querySelector("video").playbackRate'), 2);

      const body: unknown = JSON.parse((await counted).postData() ?? '');
      assert.match(JSON.stringify(body), /^\{"sessionId":"[0-9a-f]{32}","positionSec":\d+\}$/);
      assert.deepEqual(strangers, []);
      assert.deepEqual(errors, []);
      await tellsFacts(id, ['BEACON', 'IMPRESSION', 'VIEW'], ['PLAY', 'SEEK']);
      await page.goto('about:blank');
      await tellsFacts(id, ['BEACON', 'IMPRESSION', 'VIEW'], ['PLAY', 'SEEK', 'END']);
    },
    { userAgent: PERSON },
  );
});

/** A browser without a decoder of AV1. */
const NO_AV1 = `(() => {
  const { isTypeSupported } = MediaSource;
  MediaSource.isTypeSupported = (type) => !type.includes('av01') && isTypeSupported.call(MediaSource, type);
})()`;

test('the choice of quality has each size once, in the codec that plays', async (t) => {
  const av1 = await av1Renditions();
  if (av1 === null) return t.skip('this ffmpeg was built without libsvtav1');
  const id = await addVideo(app.container, account, {
    ...files,
    renditions: [...files.renditions, ...av1],
  });
  const url = `${app.url}/watch/${id}`;
  const choosesLow = async ({ page }: WatchedPage, folder: string) => {
    await plays(page);
    const items = page.locator('media-rendition-menu media-chrome-menu-item');
    let words = '';
    const look = async () => {
      words = (await items.allTextContents()).map((text) => text.trim()).join();
      return words.startsWith('360p,180p,Auto');
    };
    await waitFor(look, { message: () => words });
    const low = page.waitForRequest((request) => request.url().includes(`/${folder}/s_`));
    await choose(page, 'media-rendition-menu', '180p');
    await page.evaluate('document.querySelector("marquee-player").seek(1)');
    await low;
    await waitFor(async () => (await heightOf(page)) === 180, { timeoutMs: 10_000, message: folder });
  };
  await withPage(url, (watched) => choosesLow(watched, '180p-av1'));
  await withPage(url, (watched) => choosesLow(watched, '180p'), { initScript: NO_AV1 });
  await withPage('about:blank', async (watched) => {
    // The browser has a decoder, but no AV1 segment can be loaded.
    await watched.page.route(/-av1\/s_/, (route) => route.fulfill({ status: 404 }));
    await watched.page.goto(url);
    await choosesLow(watched, '180p');
  });
});

test('the embed loads only the playlist until playback is requested', async () => {
  const id = await addVideo(app.container, account, files);
  await withPage(`${app.url}/embed/${id}?t=4`, async ({ page, errors }) => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await waitFor(async () => (await phaseOf(page)) === 'live', { timeoutMs: 15_000 });
    assert.deepEqual(
      asked.filter((url) => url.endsWith('.m4s')),
      [],
    );
    await page.locator('.player-big-play').click();
    await plays(page);
    assert.ok((await timeOf(page)) >= 4);
    assert.deepEqual(errors, []);
  });
});

test('a page that is opened during processing plays as soon as a rung is ready', async () => {
  const { db, bus } = app.container;
  const id = await addVideo(app.container, account, files, { status: 'PROCESSING' });
  const rungs = (status: 'PENDING' | 'READY') =>
    db
      .updateTable('video_rendition')
      .set({ status })
      .where('video_id', '=', id)
      .where('name', '!=', '360p')
      .execute();
  await db.updateTable('video_rendition').set({ status: 'PENDING' }).where('video_id', '=', id).execute();
  await withPage(`${app.url}/watch/${id}`, async ({ page }) => {
    await page.getByText('This video is still processing.').first().waitFor();
    assert.equal(await phaseOf(page), 'offline');
    await rungs('READY');
    bus.publish(VIDEO_TOPIC, id);
    await waitFor(async () => (await phaseOf(page)) === 'live', { timeoutMs: 15_000 });
    await plays(page);
    assert.equal(await heightOf(page), 180);
    assert.equal(await page.locator('.badge').isVisible(), false);
  });
});

test('a site that the account does not list can neither frame the player nor play a copied URL', async () => {
  const listing = await app.createKey();
  const list = async (domains: string[]) => {
    const body = { mode: 'ALLOWLIST', domains };
    (await app.request('PUT', '/me/embed-allowlist', { key: listing.key, body })).assertOk(200);
  };
  const id = await addVideo(app.container, listing.account, files);
  const embed = `${elsewhere}/?frame=${encodeURIComponent(`${app.url}/embed/${id}?autoplay=1&muted=1`)}`;
  const source = `${app.url}/v/${id}/master.m3u8`;

  await list(['shop.example']);
  await withPage(embed, async ({ errors }) => {
    await waitFor(() => errors.some((error) => error.includes('frame-ancestors')));
  });
  const page = await fetch(`${app.url}/embed/${id}`).then((answer) => answer.text());
  const token = /master\.m3u8(\?token=[^"]+)"/.exec(page)?.[1] ?? '';
  assert.ok(token !== '');
  for (const query of ['', token]) {
    await withPage(`${elsewhere}/?src=${encodeURIComponent(source + query)}`, async ({ page }) => {
      await waitFor(async () => (await page.evaluate<string[]>('window.fatal')).length > 0, {
        timeoutMs: 15_000,
      });
    });
  }

  await list(['localhost']);
  await waitFor(async () => (await fetch(source, { headers: { origin: elsewhere } })).status === 200);
  await withPage(embed, async ({ page }) => {
    const framed = await waitFor(() => page.frames().find((frame) => frame.url().includes('/embed/')));
    await waitFor(async () => (await phaseOf(framed)) === 'live', { timeoutMs: 15_000 });
    await plays(framed);
  });
  await withPage(`${elsewhere}/?src=${encodeURIComponent(source)}`, ({ page }) => plays(page));
});

test('a private video plays on its page with the token, and the page is not there without', async () => {
  const id = await addVideo(app.container, account, files, { visibility: 'PRIVATE' });
  const made = await app.request('POST', `/videos/${id}/playback-tokens`, { key, body: {} });
  const query = new URL(made.string('data.watchUrl')).search;
  assert.equal((await fetch(`${app.url}/watch/${id}`)).status, 404);
  await withPage(`${app.url}/watch/${id}${query}`, async ({ page, errors }) => {
    await plays(page);
    assert.deepEqual(errors, []);
  });
});

test('files of an S3 service are loaded from there, as the page policy allows', async (t) => {
  const s3 = await startS3();
  if (s3 === null) return t.skip(NO_S3);
  t.after(() => s3.close());
  const env = {
    S3_ENDPOINT: s3.endpoint,
    S3_BUCKET: s3.bucket,
    S3_REGION: s3.region,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    S3_PATH_STYLE: 'true',
  };
  const remote = await startTestApp({ env });
  t.after(() => remote.close());
  const owner = (await remote.createKey()).account;
  const id = await addVideo(remote.container, owner, files);
  await withPage(`${remote.url}/watch/${id}`, async ({ page, errors, strangers }) => {
    await plays(page);
    assert.deepEqual(errors, []);
    assert.ok(strangers.some((url) => url.startsWith(s3.endpoint) && url.includes('.m4s')));
  });
  const source = encodeURIComponent(`${remote.url}/v/${id}/master.m3u8`);
  await withPage(`${elsewhere}/?src=${source}`, ({ page }) => plays(page));
});

test('the watch page of a video has no accessibility violations in both color schemes', async () => {
  const id = await addVideo(app.container, account, files, {
    chapters: JSON.stringify(CHAPTERS),
    description: 'Two sets of chamber jazz.',
  });
  const options: OpenOptions = {
    colorScheme: 'light',
    viewport: { width: 390, height: 844 },
    reducedMotion: 'reduce',
  };
  await withPage(
    `${app.url}/watch/${id}`,
    async ({ page }) => {
      await waitFor(async () => (await phaseOf(page)) === 'live', { timeoutMs: 15_000 });
      await page.mouse.move(200, 150);
      assert.deepEqual(await violationsOf(page), []);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
      assert.deepEqual(await violationsInDarkScheme(page), [], 'dark');
    },
    options,
  );
});
