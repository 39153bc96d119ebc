import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { readLink } from '../../src/media/rooms/janus/link-file.ts';
import { janusUnavailableReason } from '../../src/media/rooms/janus/process.ts';
import { FAKE_DEVICES, launchBrowser, type TestBrowser } from '../harness/browser.ts';
import { type HttpsSink, startHttpsSink } from '../harness/https-sink.ts';
import { freePort, headersOf, OWNER_KEY, type RunningPlatform, startPlatform } from '../harness/platform.ts';
import { childrenOf, singleItem } from '../harness/processes.ts';
import { mountSmall } from '../harness/tmpfs-disk.ts';
import { waitFor } from '../harness/wait-for.ts';
import { lackOfRecordedLivekit, onJanusNetwork, startLivekit } from './livekit.ts';

const run = promisify(execFile);
const skip = (await janusUnavailableReason('janus')) ?? false;
const noLivekit = (await lackOfRecordedLivekit()) ?? false;
const SLOW = { timeout: 60_000 };
let platform: RunningPlatform;
let browser: TestBrowser;
let sink: HttpsSink;

before(async () => {
  if (skip !== false) return;
  [browser, sink] = await Promise.all([launchBrowser(FAKE_DEVICES), startHttpsSink()]);
});
after(async () => {
  await browser?.close();
  await sink?.close();
});

/** Starts a platform that browsers reach by its public URL. */
async function start(
  t: TestContext,
  more: { dataDir?: string; isLivekit?: boolean; environment?: Record<string, string> } = {},
) {
  const port = await freePort();
  const webhook = `http://127.0.0.1:${port}/rtc/livekit/webhook`;
  const livekit = more.isLivekit === true ? await startLivekit(webhook, onJanusNetwork()) : null;
  t.after(() => livekit?.close());
  platform = await startPlatform({
    ...more,
    port,
    environment: {
      PUBLIC_URL: `http://localhost:${port}`,
      ROOMS_UDP_PORTS: '21600-21799',
      WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8',
      NODE_EXTRA_CA_CERTS: sink.ca.file,
      ...livekit?.env,
      ...more.environment,
    },
  });
  t.after(() => platform.stop());
}

/** @returns `data` of the response. */
async function call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${platform.api}${path}`, {
    method,
    headers: headersOf(OWNER_KEY),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  assert.ok(response.ok, JSON.stringify(answer));
  return Object(answer).data;
}

const press = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).last().click(SLOW);

/** Joins on the page, with a fake camera and microphone. */
async function enter(roomId: string, name: string, role: string): Promise<Page> {
  const { url } = await call('POST', `/rooms/${roomId}/tokens`, { identity: name, name, role });
  const { page } = await browser.open(String(url), { permissions: ['camera', 'microphone'] });
  await press(page, 'Turn on the camera');
  await page.getByRole('button', { name: 'Turn off the camera' }).waitFor(SLOW);
  await press(page, 'Turn on the microphone');
  await page.getByRole('button', { name: 'Turn off the microphone' }).waitFor(SLOW);
  await press(page, 'Join');
  await page.getByText('This room is being recorded').waitFor(SLOW);
  await press(page, 'I agree');
  return page;
}

/** Waits for more frames of another participant, and for their audio. */
async function meets(page: Page, name: string): Promise<void> {
  const frames = () =>
    page.evaluate<number>(`(() => {
      const tiles = [...document.querySelectorAll('.tile[data-source=CAMERA]')];
      const tile = tiles.find((one) => one.querySelector('bdi').textContent === ${JSON.stringify(name)});
      const video = tile?.querySelector('video');
      return video && !video.hidden ? video.getVideoPlaybackQuality().totalVideoFrames : 0;
    })()`);
  const before = await frames();
  await waitFor(async () => (await frames()) > before + 5, {
    ...PATIENT,
    message: `video frames of ${name}`,
  });
  const tile = page.locator('.tile[data-speaking]').filter({ hasText: name, hasNotText: '(you)' });
  await tile.waitFor({ state: 'attached', ...SLOW });
}

const PATIENT = { timeoutMs: 60_000, intervalMs: 200 };
const LOST = 'Audio and video are interrupted.';

const NAME = 'participants meet in browsers, the media process restarts, and the recording plays with audio';
test(`${NAME}, with Janus`, { skip }, (t) => meetAndWatch(t, false));
test(`${NAME}, with LiveKit`, { skip: noLivekit }, (t) => meetAndWatch(t, true));

async function meetAndWatch(t: TestContext, isLivekit: boolean): Promise<void> {
  await start(t, { isLivekit });
  const webhook = { url: `${sink.url}/rooms`, events: ['room.recording_ready'] };
  await call('POST', '/me/webhooks', webhook);
  const asked = { name: 'Rehearsal', recordEnabled: true, recordLayout: 'SPEAKER' };
  const roomId = String((await call('POST', '/rooms', asked)).id);
  await waitFor(async () => (await call('GET', `/rooms/${roomId}`)).canRecord, { message: 'canRecord' });
  const [ada, ben] = [await enter(roomId, 'Ada', 'HOST'), await enter(roomId, 'Ben', 'SPEAKER')];
  await Promise.all([meets(ada, 'Ben'), meets(ben, 'Ada')]);

  const media = () => childrenOf(platform.process.pid ?? -1, '/media.');
  const former = singleItem(media());
  process.kill(former, 'SIGKILL');
  const killed = performance.now();
  // LiveKit continues without a message.
  const lost = isLivekit ? [] : [ada, ben].map((page) => page.getByText(LOST).first());
  await Promise.all(lost.map((one) => one.waitFor(SLOW)));
  const noticeMs = performance.now() - killed;
  if (!isLivekit) assert.ok(noticeMs < 5000, `the message appeared after ${Math.round(noticeMs)} ms`);
  await Promise.all(lost.map((one) => one.waitFor({ state: 'hidden', ...SLOW })));
  const linkFile = join(platform.dataDir, 'rooms', 'janus.json');
  await waitFor(
    async () => media().some((pid) => pid !== former) && (await readLink(linkFile)) !== null,
    PATIENT,
  );
  await Promise.all([meets(ada, 'Ben'), meets(ben, 'Ada')]);

  await press(ben, 'Leave');
  await ben.getByRole('heading', { name: 'You left the room.' }).waitFor(SLOW);
  await press(ada, 'Leave');
  await press(ada, 'End for everyone');
  await ada.getByRole('heading', { name: 'The room has ended.' }).waitFor(SLOW);
  const isOfIt = ({ rawBody }: { rawBody: Buffer }) => rawBody.includes(roomId);
  const delivery = await waitFor(() => sink.requests.find(isOfIt), {
    timeoutMs: 120_000,
    message: 'room.recording_ready',
  });
  const { type, data } = JSON.parse(delivery.rawBody.toString());
  assert.deepEqual([type, data.roomId], ['room.recording_ready', roomId]);
  const video = await waitFor(
    async () => {
      const found = await call('GET', `/videos/${data.videoId}`);
      return found.status === 'READY' && found;
    },
    { ...PATIENT, message: 'the video' },
  );
  assert.deepEqual([video.visibility, video.source], ['PRIVATE', 'RECORDING']);
  const token = await call('POST', `/videos/${data.videoId}/playback-tokens`);
  assert.notEqual((await fetch(String(video.playbackUrl).replace(/\?.*/, ''))).status, 200, 'it is private');
  const looked = [
    '-i',
    String(token.playbackUrl),
    '-vf',
    'signalstats,metadata=print',
    '-af',
    'volumedetect',
    '-f',
    'null',
    '-',
  ];
  const { stderr } = await run('ffmpeg', ['-nostdin', ...looked], { maxBuffer: 2 ** 28 });
  const [, peak] = /max_volume: (-?[\d.]+) dB/.exec(stderr) ?? [];
  assert.ok(Number(peak) > -40, `${peak} dB`);
  const frames = stderr.match(/SATAVG=([\d.]+)/g) ?? [];
  assert.ok(frames.length > 120, `${frames.length} frames`);
  const green = frames.filter((line) => Number(line.slice(7)) > 20);
  // No media is sent while there is no media server.
  assert.ok(green.length > 60, `frames of the camera: ${green.length} of ${frames.length} frames`);
}

const MB = 2 ** 20;
const RESERVE_MB = 200;

test('a full disk ends the recording but not the room, and the recorded part becomes the video', {
  skip,
}, async (t) => {
  const disk = await mountSmall(900);
  if (disk === null) return t.skip('no file system can be mounted here');
  await start(t, { dataDir: join(disk.dir, 'data'), environment: { DISK_RESERVE: `${RESERVE_MB}MB` } });
  t.after(() => disk.remove());
  const room = await call('POST', '/rooms', { name: 'Rehearsal', recordEnabled: true });
  const roomId = String(room.id);
  const [ada, ben] = [await enter(roomId, 'Ada', 'HOST'), await enter(roomId, 'Ben', 'SPEAKER')];
  await Promise.all([meets(ada, 'Ben'), meets(ben, 'Ada')]);
  const { bavail, bsize } = await statfs(disk.dir);
  const filler = join(disk.dir, 'filler');
  await writeFile(filler, Buffer.alloc(bavail * bsize - (RESERVE_MB - 20) * MB));
  await ada.getByText('The recording has ended.').first().waitFor(SLOW);
  await Promise.all([meets(ada, 'Ben'), meets(ben, 'Ada')]);
  const now = await call('GET', `/rooms/${roomId}`);
  assert.deepEqual([now.status, now.recording], ['ACTIVE', false]);
  await rm(filler);
  const [videoId] = await waitFor(
    async () => {
      const { recordingVideoIds } = await call('GET', `/rooms/${roomId}`);
      return Array.isArray(recordingVideoIds) && recordingVideoIds.length > 0 && recordingVideoIds;
    },
    { ...PATIENT, message: 'a video' },
  );
  const video = await waitFor(
    async () => {
      const found = await call('GET', `/videos/${videoId}`);
      return found.status === 'READY' && found;
    },
    { ...PATIENT, timeoutMs: 120_000, message: 'the video' },
  );
  assert.match(String(video.description), /ended early: the disk of the platform was full/);
  assert.ok(Number(video.durationSec) > 2, `${video.durationSec} s`);
});
