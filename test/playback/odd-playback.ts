import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type MediaPlatform, startMediaPlatform } from '../harness/dashboard.ts';
import { createPartner, type Partner } from '../harness/partner.ts';
import { unlimitedHeaders } from '../harness/platform.ts';
import { waitFor } from '../harness/wait-for.ts';
import { assertNear } from '../transcode/result.ts';
import { FRAME_RATE, ODD_FILES, type OddFile, ONE_FRAME_MORE, PATCHES } from './odd-files.ts';

/** Frames; audio encoders delay the start of a file by less than two. */
const FRAME_TOLERANCE = 2;
const LENGTH_TOLERANCE_SEC = 0.15;
/** Tolerance of color values, of 255; the wrong matrix changes 30. */
const COLOR_TOLERANCE = 16;
const HERTZ_TOLERANCE = 60;
/** Time after a change of pitch in which an analyzer may still hear the former one. */
const TONE_EDGE_SEC = 0.25;
/** Windows in which a player may take the top rendition. */
const LARGE = { width: 640, height: 480 };
const LARGE_HD = { width: 1280, height: 720 };
/** Window in which a player takes the lowest rendition. */
const SMALL = { width: 320, height: 240 };

/** Reading of `numbered-frames.js` at one time. */
interface Reading {
  sec: number;
  /** Time of the frame that is shown. */
  frameSec: number;
  /** Lines of the rendition that is shown. */
  height: number;
  hertz: number | null;
  /** Content of the frame when interpreted at each aspect ratio. */
  contents: { aspect: number; number: number | null; patches: number[][] }[];
}

/** Plays each file from start to end, with the first playable renditions and again when the video is READY. */
export function testPlayback(files: readonly OddFile[] = ODD_FILES): void {
  let dir = '';
  let media: MediaPlatform;
  let partner: Partner;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'odd-playback-'));
    media = await startMediaPlatform({ ROLES: 'api,worker', TRANSCODE_CONCURRENCY: '2' });
    const { authorization = '' } = await unlimitedHeaders(media.platform);
    partner = createPartner(media.platform, authorization.replace('Bearer ', ''));
  });
  after(async () => {
    await media?.close();
    await rm(dir, { recursive: true, force: true });
  });
  describe('odd files', { concurrency: true }, () => {
    for (const file of files) {
      test(`${file.name} plays to its end in step with its source, early and when READY`, async () => {
        const id = await upload(partner, await file.make(dir), file.name);
        const early = await partner.videoWhen(id, ({ playbackUrl }) => playbackUrl !== null);
        const playable = await (await fetch(early.playbackUrl ?? '')).text();
        await withTab(media, file, async (page) => {
          const url = `${media.platform.url}/watch/${id}`;
          // A player that starts now continues to use this playlist.
          await page.route('**/master.m3u8*', (route) => route.fulfill({ body: playable }));
          const first = await playVideo(page, { file, url, viewport: file.isHd ? LARGE_HD : LARGE });
          assert.deepEqual(first.difference(heightsIn(playable)), new Set());
          await page.unroute('**/master.m3u8*');
          const ready = await partner.videoWhen(id, ({ status }) => status === 'READY');
          assertNear(ready.durationSec ?? 0, file.lengthSec, LENGTH_TOLERANCE_SEC, 'the duration');
          const heights = heightsIn(await (await fetch(ready.playbackUrl ?? '')).text());
          const second = await playVideo(page, { file, url, viewport: SMALL });
          assert.deepEqual(second, new Set([Math.min(...heights)]));
        });
      });
    }
    test('a video ends after a last segment of one frame when the quality was changed', async () => {
      const file = ONE_FRAME_MORE;
      const id = await upload(partner, await file.make(dir), file.name);
      await partner.videoWhen(id, ({ status }) => status === 'READY');
      await withTab(media, file, async (page) => {
        await page.setViewportSize(LARGE);
        await page.goto(`${media.platform.url}/watch/${id}`);
        const isPlaying = () => page.evaluate<boolean>('document.querySelector("video").currentTime > 1');
        await waitFor(isPlaying, { timeoutMs: 40_000, intervalMs: 50, message: 'a second of playback' });
        await page.evaluate(`(() => {
          const { videoRenditions: list, videoHeight } = document.querySelector('video');
          list.selectedIndex = [...list].findIndex(({ height }) => height !== videoHeight);
        })()`);
        await waitForEnd(page, file);
      });
    });
  });
}

async function upload(partner: Partner, path: string, filename: string): Promise<string> {
  const bytes = new Uint8Array(await readFile(path));
  const { uploadUrl, videoId } = await partner.createUpload({ filename, sizeBytes: bytes.length });
  const response = await fetch(uploadUrl, { method: 'PUT', body: bytes });
  assert.ok(response.ok, `${response.status} ${await response.text()}`);
  return videoId;
}

function heightsIn(master: string): Set<number> {
  const variants = master.matchAll(/^#EXT-X-STREAM-INF:.*RESOLUTION=\d+x(\d+)/gm);
  return new Set(Array.from(variants, ([, height]) => Number(height)));
}

/** Opens a tab that reads frames and tones; fails on uncaught errors. */
async function withTab(
  { browser, platform }: MediaPlatform,
  file: OddFile,
  use: (page: Page) => Promise<void>,
): Promise<void> {
  const aspects = [...new Set(secondsOf(file).map(file.aspectAt))];
  const reader = await readFile(join(import.meta.dirname, 'numbered-frames.js'), 'utf8');
  const initScript = `window.contentAspects = ${JSON.stringify(aspects)};\n{${reader}}`;
  const { page, errors, close } = await browser.open(`${platform.url}/robots.txt`, { initScript });
  try {
    await use(page);
    const uncaught = errors.filter((error) => error.startsWith('uncaught'));
    assert.deepEqual(uncaught, []);
  } finally {
    await close();
  }
}

interface VideoPlay {
  file: OddFile;
  url: string;
  viewport: { width: number; height: number };
}

/** Plays a watch page from start to end and compares it with the source. @returns the heights that were shown. */
async function playVideo(page: Page, { file, url, viewport }: VideoPlay): Promise<Set<number>> {
  await page.setViewportSize(viewport);
  await page.goto(url);
  await waitForEnd(page, file);
  const readings = await readEverySecond(page, file);
  assertFrames(file, readings);
  for (const second of secondsOf(file)) assertTone(file, second, readings);
  return new Set(readings.map(({ height }) => height));
}

function secondsOf({ lengthSec }: OddFile): number[] {
  return Array.from({ length: lengthSec }, (_, second) => second);
}

async function waitForEnd(page: Page, { lengthSec }: OddFile): Promise<void> {
  let sec: number | null = null;
  const hasEnded = async () => {
    const state = '[document.querySelector("video")?.currentTime ?? null, window.endedAtSec]';
    const [now, end] = await page.evaluate<(number | null)[]>(state);
    sec = now ?? null;
    return end !== null;
  };
  const message = () => `the end at ${lengthSec} s; playback is at ${sec}`;
  await waitFor(hasEnded, { timeoutMs: 40_000, intervalMs: 250, message });
  const endSec = await page.evaluate<number>('window.endedAtSec');
  assertNear(endSec, lengthSec, LENGTH_TOLERANCE_SEC, 'the end');
}

/** Returns the readings of all seconds; seconds missed by a busy machine are played again. */
async function readEverySecond(page: Page, file: OddFile): Promise<Reading[]> {
  let readings: Reading[] = [];
  let unread: number | undefined;
  const isRead = async () => {
    readings = await page.evaluate<Reading[]>('window.readings');
    unread = unreadSecond(file, readings);
    if (unread === undefined) return true;
    await page.evaluate(`(() => {
      const video = document.querySelector('video');
      const isThere = !video.paused && Math.floor(video.currentTime) === ${unread};
      if (isThere || video.seeking) return;
      video.currentTime = ${unread};
      void video.play();
    })()`);
    return false;
  };
  const message = () => `a frame and a tone of second ${unread}`;
  await waitFor(isRead, { timeoutMs: 20_000, intervalMs: 100, message });
  return readings;
}

/** Returns the first second without a frame or without a steady tone. */
function unreadSecond(file: OddFile, readings: readonly Reading[]): number | undefined {
  return secondsOf(file).find((second) => {
    const read = readings.filter(({ sec }) => Math.floor(sec) === second);
    const hasFrame = read.some(({ frameSec }) => Math.floor(frameSec) === second);
    return !hasFrame || !read.some(({ sec }) => isSteady(file, sec));
  });
}

/** Asserts that each frame is that of the source at its time, in its shape and colors. */
function assertFrames({ frameAt, aspectAt }: OddFile, readings: readonly Reading[]): void {
  for (const { frameSec, contents } of readings) {
    const [earliest = 0, latest = 0] = [-FRAME_TOLERANCE, FRAME_TOLERANCE].map((frames) =>
      Math.max(0, frameSec + (frames + 0.5) / FRAME_RATE),
    );
    const [first, last] = [frameAt(earliest), frameAt(latest)];
    const found = contents.find(
      ({ aspect, number }) =>
        [earliest, latest].map(aspectAt).includes(aspect) &&
        number !== null &&
        number >= first &&
        number <= last,
    );
    const shown = contents.map(({ aspect, number }) => `${number} of aspect ${aspect.toFixed(2)}`);
    assert.ok(found, `at ${frameSec} frame ${shown.join(' or ')} is shown instead of ${first} to ${last}`);
    for (const [at, patch] of PATCHES.entries()) {
      const color = found.patches[at] ?? [];
      for (const [channel, value] of patch.entries())
        assertNear(color[channel] ?? -99, value, COLOR_TOLERANCE, `at ${frameSec}: ${patch} is ${color}`);
    }
  }
}

/** Reports whether an analyzer hears one pitch at a time. */
function isSteady({ toneAt }: OddFile, sec: number): boolean {
  return sec > TONE_EDGE_SEC && toneAt(sec - TONE_EDGE_SEC) === toneAt(sec + TONE_EDGE_SEC / 2);
}

/** Asserts the pitch of a second, but for single readings of a machine that is late. */
function assertTone(file: OddFile, second: number, readings: readonly Reading[]): void {
  const heard = readings.filter(({ sec }) => Math.floor(sec) === second && isSteady(file, sec));
  const right = heard.filter(({ sec, hertz }) => {
    const tone = file.toneAt(sec);
    if (tone === null || hertz === null) return tone === hertz;
    return Math.abs(hertz - (500 + 250 * tone)) < HERTZ_TOLERANCE;
  });
  const list = heard.map(({ sec, hertz }) => `${hertz?.toFixed(0) ?? 'silence'} at ${sec.toFixed(2)}`);
  assert.ok(right.length > heard.length / 2, `second ${second}: ${list.join(', ')}`);
}
