import assert from 'node:assert/strict';
import { availableParallelism, loadavg } from 'node:os';
import { after, before, type TestContext, test } from 'node:test';
import { launchBrowser, type TestBrowser, type WatchedPage } from '../test/harness/browser.ts';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { CURRENT_FFMPEG, NO_CURRENT_FFMPEG } from '../test/live/current-ffmpeg.ts';
import { longestFreeze, PLAYBACK_MONITOR, waitForPlayback } from '../test/live/playback-monitor.ts';
import { recordTape, type Tape, type TapeOptions, TapePublisher } from '../test/rtmp/recorded-publish.ts';

/** Longest stall from which playback may recover without intervention. */
const STILL_MAX_MS = 10_000;
const BUSY = 3;
/** Time from the start until the 32-bit timestamps wrap around. */
const BEFORE_WRAP_MS = 20_000;
const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-b:v', '600k'];

let browser: TestBrowser;
let platform: RunningPlatform;
let partner: Partner;
let watching: WatchedPage;
let publisher: TapePublisher;
let streamId: string;
let tape: Tape;

before(async () => {
  const options = { environment: { LIVE_MAX_RUNGS: '0' } };
  [browser, platform, tape] = await Promise.all([launchBrowser(), startPlatform(options), recordTape()]);
  partner = createPartner(platform);
  const { id, streamKey: key } = await partner.createStream({ latencyMode: 'LOW' });
  streamId = id;
  await partner.start(id);
  publisher = await TapePublisher.start({ port: platform.rtmpPort, key }, tape, 2 ** 32 - BEFORE_WRAP_MS);
  watching = await browser.open(`${platform.url}/watch/${id}`, { initScript: PLAYBACK_MONITOR });
  await waitForPlayback(watching.page, 20);
  await watching.page.evaluate('window.isFirst = true');
});
after(async () => {
  await watching?.close();
  publisher?.stop();
  await browser?.close();
  await platform?.stop();
});

const issues = async () => (await partner.stream(streamId)).health?.issues ?? [];

/** Issues that this encoder may cause on a busy machine, where it is late. */
const wrongTimes = async () => (await issues()).filter((word) => /^(?:TIMESTAMP_JUMP|AV_DRIFT)$/.test(word));

/** Waits until the issues of the signal match. */
async function says(isSo: (found: readonly string[]) => boolean, message: string): Promise<void> {
  let found: readonly string[] = [];
  const look = async () => {
    found = await issues();
    return isSo(found);
  };
  await waitFor(look, {
    ...{ timeoutMs: 90_000, intervalMs: 500, message: () => `${message}; there is: ${found.join(' ')}` },
  });
}

/** The page has gone on by itself, after no more than a moment. */
async function assertPlaybackContinues(t: TestContext, tenths = 50): Promise<void> {
  await waitForPlayback(watching.page, tenths);
  const still = await longestFreeze(watching.page);
  const [load = 0] = loadavg();
  t.diagnostic(`the picture stood still for ${Math.round(still)} ms, at a load of ${load.toFixed(1)}`);
  // Stalls are not meaningful on an overloaded machine.
  const isBusy = load > BUSY * availableParallelism();
  assert.ok(isBusy || still < STILL_MAX_MS, `the picture stood still for ${still} ms`);
  await isTheSame();
}

async function isTheSame(): Promise<void> {
  assert.equal(publisher.isClosed, false, 'it is the first publish');
  assert.equal(await watching.page.evaluate('window.isFirst'), true, 'it is the page that was opened first');
}

async function shows(lines: number): Promise<void> {
  const height = () => watching.page.evaluate<number>('document.querySelector("video").videoHeight');
  await waitFor(async () => (await height()) === lines, {
    ...{ timeoutMs: 30_000, intervalMs: 100, message: `a picture of ${lines} lines` },
  });
}

test('playback continues when timestamps wrap around', async (t) => {
  await longestFreeze(watching.page);
  await waitFor(() => publisher.stamp < 2 ** 31, { timeoutMs: BEFORE_WRAP_MS });
  await assertPlaybackContinues(t, 80);
  assert.deepEqual(await wrongTimes(), []);
});

test('an encoder whose clock is 2 % fast, then slow, plays', async (t) => {
  for (const rate of [1.02, 0.98]) {
    publisher.drift(rate);
    await assertPlaybackContinues(t, 150);
    assert.deepEqual(await wrongTimes(), [], `${rate}`);
  }
  publisher.drift(1);
});

test('audio that drifts from the video raises an issue, and playback continues', async (t) => {
  publisher.drift(1.05, ['audio']);
  await says((found) => found.includes('AV_DRIFT'), 'AV_DRIFT');
  publisher.drift(1, ['audio']);
  await assertPlaybackContinues(t);
});

test('timestamps that jump forward and backward raise an issue, and playback continues', async (t) => {
  for (const ms of [60_000, -90_000, -20_000]) {
    publisher.jump(ms);
    await assertPlaybackContinues(t);
    assert.ok((await issues()).includes('TIMESTAMP_JUMP'), `${ms} ms`);
  }
});

test('a new resolution, H.264 profile and sampling rate play without a reload', async (t) => {
  for (const [lines, options] of [
    [720, { width: 1280, height: 720 }],
    [480, { width: 854, height: 480 }],
    [480, { width: 854, height: 480, codec: [...X264, '-profile:v', 'high'] }],
    [480, { width: 854, height: 480, codec: [...X264, '-profile:v', 'high'], sampleRate: 44_100 }],
  ] satisfies [number, TapeOptions][]) {
    publisher.use(await recordTape(options));
    await shows(lines);
    await assertPlaybackContinues(t);
  }
});

test('HEVC that this browser cannot play is reported on the page, which then plays a supported codec again', {
  skip: NO_CURRENT_FFMPEG,
}, async (t) => {
  const codec = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none'];
  publisher.use(await recordTape({ ffmpeg: CURRENT_FFMPEG, codec }));
  await says((found) => found.includes('CODEC_NOT_EVERYWHERE'), 'CODEC_NOT_EVERYWHERE');
  const message = watching.page.locator('.player-panel-message');
  const isSaid = async () => /^This browser cannot play/.test((await message.textContent()) ?? '');
  await waitFor(isSaid, { timeoutMs: 30_000, intervalMs: 100, message: 'what the page says' });
  publisher.use(tape);
  await waitForPlayback(watching.page, 50);
  await isTheSame();
  t.diagnostic(`issues: ${(await issues()).join(' ')}`);
});
