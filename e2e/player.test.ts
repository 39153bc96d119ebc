import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { launchBrowser, type TestBrowser, type WatchedPage } from '../test/harness/browser.ts';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { startPublisher } from '../test/rtmp/publisher.ts';

const run = promisify(execFile);

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
  hls.on(Hls.Events.LEVEL_LOADED, (_, { details }) => {
    window.isWaiting = !details.m3u8.includes('PRELOAD-HINT');
    window.isComplete = !details.live;
  });
  hls.on(Hls.Events.MANIFEST_PARSED, () => video.play());
</script>`;

/**
 * Page expression that is true at the end of a complete playlist. The element does not always report it: after
 * a gap in the media, hls.js may leave the last tenth of a second open.
 */
const HAS_ENDED = 'video.ended || (window.isComplete === true && video.duration - video.currentTime < 0.1)';
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

let folder: string;
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
  folder = await mkdtemp(join(tmpdir(), 'marquee-player-'));
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
  await rm(folder, { recursive: true, force: true });
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
    hasEnded: () => page.evaluate<boolean>(HAS_ENDED),
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

/** Length of the film below. */
const FILM_SEC = 6;
const SLOW = { timeoutMs: 20_000 };
const CHAPTERS = ['Tuning', 'The overture', 'Applause'];

/** English in stereo and German in 5.1, three subtitles, and chapters. */
async function makeFilm(): Promise<Buffer> {
  const subtitle = (text: string) => `1\n00:00:00,500 --> 00:00:05,500\n${text}\n`;
  await writeFile(join(folder, 'en.srt'), subtitle('Good evening.'));
  await writeFile(join(folder, 'sdh.srt'), subtitle('[a bell] Good evening.'));
  await writeFile(join(folder, 'de.srt'), subtitle('Ausgang'));
  const chapters = CHAPTERS.map(
    (title, index) => `[CHAPTER]\nTIMEBASE=1/1\nSTART=${index * 2}\nEND=${index * 2 + 2}\ntitle=${title}\n`,
  );
  await writeFile(join(folder, 'chapters.txt'), `;FFMETADATA1\n${chapters.join('')}`);
  const tone = (hertz: number) => ['-f', 'lavfi', '-i', `sine=f=${hertz}:r=48000:d=${FILM_SEC}`];
  const language = (kind: string, of: string[]) =>
    of.flatMap((tag, index) => [`-metadata:s:${kind}:${index}`, `language=${tag}`]);
  await run(
    'ffmpeg',
    [
      ...[
        '-v',
        'error',
        '-f',
        'lavfi',
        '-i',
        `testsrc2=s=320x180:r=10:d=${FILM_SEC}`,
        ...tone(330),
        ...tone(550),
      ],
      ...['-i', 'en.srt', '-i', 'sdh.srt', '-i', 'de.srt', '-i', 'chapters.txt', '-map_metadata', '6'],
      ...['-map', '0:v', '-map', '1:a', '-map', '2:a', '-map', '3', '-map', '4', '-map', '5'],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '20', '-c:a', 'aac'],
      ...['-ac:a:0', '2', '-ac:a:1', '6', '-c:s', 'srt', '-disposition:s:1', 'hearing_impaired'],
      ...[
        '-disposition:s:2',
        'forced',
        ...language('a', ['eng', 'ger']),
        ...language('s', ['eng', 'eng', 'ger']),
      ],
      'film.mkv',
    ],
    { cwd: folder },
  );
  return readFile(join(folder, 'film.mkv'));
}

/** @returns the ID and the playback URL of its player page. */
async function publishFilm(film: Buffer): Promise<{ id: string; playbackUrl: string }> {
  const session = await partner.createUpload({ filename: 'film.mkv', sizeBytes: film.length });
  assert.ok((await fetch(session.uploadUrl, { method: 'PUT', body: new Uint8Array(film) })).ok);
  const { id, playbackUrl } = await partner.videoWhen(
    session.videoId,
    ({ status }) => status === 'READY',
    60_000,
  );
  return { id, playbackUrl: playbackUrl ?? '' };
}

type Attributes = Readonly<Record<string, string>>;

/** The attributes of each tag of this name (RFC 8216 4.2). */
function tagsOf(playlist: string, tag: string): Attributes[] {
  return [...playlist.matchAll(new RegExp(`^#${tag}:(.*)$`, 'gm'))].map(([, list = '']) =>
    Object.fromEntries(
      [...list.matchAll(/([A-Z0-9-]+)=("[^"]*"|[^",]*)(?:,|$)/g)].map(([, name = '', value = '']) => [
        name,
        value.replace(/^"|"$/g, ''),
      ]),
    ),
  );
}

/** RFC 8216 4.3.4.1 and 4.3.4.2.1. */
async function assertMedia(playbackUrl: string): Promise<Attributes[]> {
  const master = await (await fetch(playbackUrl)).text();
  const media = tagsOf(master, 'EXT-X-MEDIA');
  for (const group of Object.values(Object.groupBy(media, (one) => `${one.TYPE} ${one['GROUP-ID']}`))) {
    const about = JSON.stringify(group);
    const members = group ?? [];
    assert.equal(new Set(members.map(({ NAME }) => NAME)).size, members.length, about);
    assert.ok(members.filter(({ DEFAULT }) => DEFAULT === 'YES').length <= 1, about);
    const selected = members.filter(({ AUTOSELECT }) => AUTOSELECT === 'YES');
    const kinds = selected.map((one) => [one.LANGUAGE, one.FORCED, one.CHARACTERISTICS].join());
    assert.equal(new Set(kinds).size, selected.length, about);
    for (const one of members) {
      assert.ok(one.DEFAULT !== 'YES' || one.AUTOSELECT === 'YES', about);
      assert.equal(one.FORCED !== undefined, one.TYPE === 'SUBTITLES', about);
      assert.equal(one.CHANNELS !== undefined, one.TYPE === 'AUDIO', about);
      const list = await fetch(new URL(one.URI ?? '', playbackUrl));
      assert.match(await list.text(), /#EXT-X-ENDLIST\n$/);
    }
  }
  const named = new Set(media.map((one) => `${one.TYPE} ${one['GROUP-ID']}`));
  for (const variant of tagsOf(master, 'EXT-X-STREAM-INF')) {
    for (const type of ['AUDIO', 'SUBTITLES']) {
      assert.ok(named.has(`${type} ${variant[type]}`), `${type} of ${JSON.stringify(variant)}`);
    }
  }
  return media;
}

/** Items of a menu that has them in its shadow tree. */
const ITEMS = (menu: string) =>
  `[...document.querySelector('${menu}').shadowRoot.querySelectorAll('media-chrome-menu-item')]`;
const itemsOf = (page: Page, menu: string) =>
  page.evaluate<string[]>(`${ITEMS(menu)}.map((one) => one.textContent.trim())`);
const choose = (page: Page, menu: string, item: string) =>
  page.evaluate(`${ITEMS(menu)}.find((one) => one.textContent.trim() === '${item}').click()`);

/** Returns the text of the current cues. */
const cuesOf = (page: Page) =>
  page.evaluate<string[]>(
    `[...document.querySelector('video').textTracks]
      .filter(({ mode, kind }) => mode === 'showing' && kind !== 'chapters')
      .flatMap(({ activeCues }) => [...(activeCues ?? [])].map(({ text }) => text))`,
  );

test('the watch page lists every audio track, every subtitle and the chapters of a file', async (t) => {
  const { id, playbackUrl } = await publishFilm(await makeFilm());
  const media = await assertMedia(playbackUrl);
  const sounds = media.filter(({ TYPE }) => TYPE === 'AUDIO');
  assert.deepEqual(
    sounds.map((one) => [one['GROUP-ID'], one.NAME, one.LANGUAGE, one.CHANNELS]),
    [
      ['audio', 'English', 'en', '2'],
      ['audio', 'Deutsch', 'de', '2'],
      ['surround', 'English', 'en', '2'],
      ['surround', 'Deutsch', 'de', '6'],
    ],
  );
  const { page, errors, strangers, close } = await browser.open(`${platform.url}/watch/${id}`);
  t.after(close);
  await page.locator('.player-stage[data-phase=live]').waitFor({ timeout: 60_000 });
  await page.evaluate('document.querySelector("video").loop = true');
  await page.evaluate('document.querySelector("video").play()');
  const captions = 'media-captions-menu';
  await waitFor(async () => (await itemsOf(page, captions)).length === 4, SLOW);
  // Captions that describe sounds come first.
  const names = ['English (SDH)', 'English', 'Deutsch (forced)'];
  assert.deepEqual(await itemsOf(page, captions), ['Off', ...names]);
  for (const [name, text] of [
    ['English (SDH)', '[a bell] Good evening.'],
    ['Deutsch (forced)', 'Ausgang'],
    ['English', 'Good evening.'],
  ] as const) {
    await choose(page, captions, name);
    await waitFor(async () => (await cuesOf(page)).join() === text, {
      ...SLOW,
      message: `the cue of ${name}`,
    });
  }
  await choose(page, captions, 'Off');
  await waitFor(async () => (await cuesOf(page)).length === 0, SLOW);

  assert.deepEqual(await itemsOf(page, 'media-audio-track-menu'), ['English', 'Deutsch']);
  const german = page.waitForRequest((request) => /\/audio-1\/s_\d+\.m4s/.test(request.url()));
  await choose(page, 'media-audio-track-menu', 'Deutsch');
  await german;

  const marks = `document.querySelector('media-time-range').mediaChaptersCues?.map(({ text }) => text)`;
  assert.deepEqual(await page.evaluate(marks), CHAPTERS);
  assert.deepEqual(strangers, []);
  assert.deepEqual(errors, []);
});
