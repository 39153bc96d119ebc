import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { launchBrowser, type TestBrowser } from '../test/harness/browser.ts';
import { createPartner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';

const run = promisify(execFile);
const SECONDS = 6;
const SLOW = { timeoutMs: 20_000 };
const CHAPTERS = ['Tuning', 'The overture', 'Applause'];
let folder: string;
let platform: RunningPlatform;
let browser: TestBrowser;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'marquee-tracks-'));
  [platform, browser] = await Promise.all([
    startPlatform({ environment: { ROLES: 'api,worker' } }),
    launchBrowser(),
  ]);
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await rm(folder, { recursive: true, force: true });
});

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
  const tone = (hertz: number) => ['-f', 'lavfi', '-i', `sine=f=${hertz}:r=48000:d=${SECONDS}`];
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
        `testsrc2=s=320x180:r=10:d=${SECONDS}`,
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
async function publish(film: Buffer): Promise<{ id: string; playbackUrl: string }> {
  const partner = createPartner(platform);
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

test('a viewer finds every sound, every subtitle and the chapters of a file', async () => {
  const { id, playbackUrl } = await publish(await makeFilm());
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
  const watched = await browser.open(`${platform.url}/watch/${id}`);
  const { page, errors, strangers } = watched;
  try {
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
  } finally {
    await watched.close();
  }
});
