import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import type { TestBrowser } from '../test/harness/browser.ts';
import type { Partner } from '../test/harness/partner.ts';
import type { RunningPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { CURRENT_FFMPEG, NO_CURRENT_FFMPEG } from '../test/live/current-ffmpeg.ts';
import { WHIP_CLIENT } from '../test/live/whip-client.ts';
import { janusPid, NO_JANUS } from '../test/rooms/janus.ts';
import { startJanusPlatform } from '../test/rooms/janus-platform.ts';
import { startPublisher } from '../test/rtmp/publisher.ts';

const run = promisify(execFile);
const SLOW = { timeout: 30_000 };
const PATIENT = { timeoutMs: 20_000, intervalMs: 200 };
const TITLE = 'From the studio';
const BROADCAST = 'This room is being broadcast. Viewers of the stream';

let platform: RunningPlatform;
let browser: TestBrowser;
let partner: Partner;
let close = async () => {};
before(async () => {
  if (NO_JANUS === false) ({ platform, browser, partner, close } = await startJanusPlatform('21900-21999'));
});
after(() => close());

const call = async (method: string, path: string, body?: object) =>
  Object((await partner.call(method, path, body)).data) as Record<string, unknown>;
const bridge = async (body: object) => String((await call('POST', '/bridges', body)).id);
const when = (id: string, status: string) =>
  waitFor(
    async () => {
      const found = await call('GET', `/bridges/${id}`);
      return found.status === status ? found : null;
    },
    { ...PATIENT, message: `the bridge to be ${status}` },
  );

/** Opens the lobby of a room with camera and microphone on; a page left open would encode video during later tests. */
async function openLobby(t: TestContext, roomId: string, identity: string): Promise<Page> {
  const { url } = await call('POST', `/rooms/${roomId}/tokens`, { identity, name: identity, role: 'HOST' });
  const { page, close } = await browser.open(String(url), { permissions: ['camera', 'microphone'] });
  t.after(close);
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click(SLOW);
  await press('Turn on the camera');
  await press('Turn on the microphone');
  await page.getByRole('button', { name: 'Turn off the microphone' }).waitFor(SLOW);
  return page;
}

/** Joins from a lobby that was opened before the broadcast began. */
async function agree(page: Page): Promise<void> {
  const button = page.getByRole('button', { name: /^Join/ });
  await button.click(SLOW);
  await page.getByText('This room is now being broadcast.').waitFor(SLOW);
  await page.getByText(BROADCAST).first().waitFor(SLOW);
  await button.click(SLOW);
  await page.getByRole('button', { name: 'Leave', exact: true }).last().waitFor(SLOW);
}

/** Returns the color in the middle of the newest frame, and the audio level in dB. */
async function seenIn(playlist: string): Promise<{ pixel: Buffer; peak: number }> {
  const scaled = ['-map', '0:v', '-frames:v', '10', '-vf', 'crop=iw/2:ih/2,scale=1:1'];
  const pixels = [...scaled, '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-'];
  const loudness = ['-map', '0:a', '-t', '1', '-af', 'volumedetect', '-f', 'null', '-'];
  const args = ['-nostdin', '-live_start_index', '-1', '-i', playlist, ...pixels, ...loudness];
  const { stdout, stderr } = await run('ffmpeg', args, { encoding: 'buffer', timeout: 20_000 });
  const peak = Number(/max_volume: (-?[\d.]+) dB/.exec(String(stderr))?.[1] ?? -99);
  return { pixel: stdout.subarray(-3), peak };
}

/** Returns the decoded frames of a participant's camera on a page. */
const frames = (page: Page, name: string) =>
  page.evaluate<number>(`(() => {
    const tiles = [...document.querySelectorAll('.tile[data-source=CAMERA]')];
    const tile = tiles.find((one) => one.querySelector('bdi').textContent === ${JSON.stringify(name)});
    const video = tile?.querySelector('video');
    return video && !video.hidden ? video.getVideoPlaybackQuality().totalVideoFrames : 0;
  })()`);
/** A new connection restarts the count at 0. */
const seesMore = async (page: Page, name: string) => {
  let [last, more] = [await frames(page, name), 0];
  const counted = async () => {
    const now = await frames(page, name);
    more += Math.max(0, now - last);
    last = now;
    return more > 5;
  };
  await waitFor(counted, { ...PATIENT, message: `pictures of ${name}` });
};

test('a room is the broadcast of a stream, and a stream plays in the room', { skip: NO_JANUS }, async (t) => {
  const room = await call('POST', '/rooms', { name: 'Round table' });
  const roomId = String(room.id);
  const { id: streamId, playbackUrl } = await partner.createStream();
  const page = await openLobby(t, roomId, 'ada');
  assert.equal(await page.getByText(BROADCAST).first().isVisible(), false);
  const out = await bridge({ type: 'ROOM_TO_STREAM', sourceId: roomId, targetId: streamId });
  // No participant is present yet: a title card and silence are a signal.
  await when(out, 'ACTIVE');
  assert.equal((await partner.stream(streamId)).hasSignal, true);
  assert.match(await (await fetch(`${platform.url}/r/${roomId}`)).text(), /<li data-broadcast>This room is/);
  await agree(page);
  await page.getByText(BROADCAST).last().waitFor(SLOW);
  assert.equal((await call('GET', `/rooms/${roomId}`)).streamId, streamId);
  await partner.start(streamId);
  await waitFor(async () => (await fetch(playbackUrl)).ok, PATIENT);
  // The green of the device, and its beeps.
  await waitFor(
    async () => {
      const { pixel, peak } = await seenIn(playbackUrl);
      const [red = 0, green = 0] = pixel;
      return green > red + 40 && peak > -40;
    },
    { ...PATIENT, message: 'the camera and the microphone in the stream' },
  );

  const other = await partner.createStream({ title: TITLE });
  const into = await bridge({
    type: 'STREAM_TO_ROOM',
    sourceId: other.id,
    targetId: roomId,
    autoRestart: true,
  });
  const url = `rtmp://127.0.0.1:${platform.rtmpPort}/live/${other.streamKey}`;
  const encoder = startPublisher({ url, width: 320, height: 180, fps: 15 });
  try {
    await when(into, 'ACTIVE');
    await seesMore(page, TITLE);
    await page
      .locator('.tile[data-speaking]')
      .filter({ hasText: TITLE })
      .waitFor({ state: 'attached', ...SLOW });
    const { data } = await partner.call('GET', `/rooms/${roomId}/participants?state=ACTIVE`);
    const guest = (data as unknown as Record<string, unknown>[]).find(({ bridgeId }) => bridgeId === into);
    assert.deepEqual([guest?.name, guest?.role], [TITLE, 'SPEAKER']);

    const killed = await janusPid(platform.dataDir);
    process.kill(killed ?? 0, 'SIGKILL');
    const isBack = async () => ![null, killed].includes(await janusPid(platform.dataDir));
    await waitFor(isBack, { ...PATIENT, message: 'Janus again' });
    await seesMore(page, TITLE);
    assert.equal((await call('GET', `/bridges/${out}`)).status, 'ACTIVE');

    await partner.call('DELETE', `/rooms/${roomId}/participants/${into}`);
    assert.equal((await when(into, 'STOPPED')).endReason, 'REMOVED');
  } finally {
    await encoder.stop();
  }
  await call('POST', `/rooms/${roomId}/end`);
  assert.equal((await when(out, 'STOPPED')).endReason, 'SOURCE_ENDED');
  assert.equal((await call('GET', `/rooms/${roomId}`)).streamId, null);
});

test('an encoder publishes by WHIP, and is taken over', { skip: NO_JANUS || NO_CURRENT_FFMPEG }, async () => {
  const { id, streamKey, playbackUrl } = await partner.createStream({ autoStart: true });
  const of = async () =>
    Object(await partner.stream(id)) as Record<string, Record<string, unknown> | boolean>;
  const whipUrl = await waitFor(async () => Object((await of()).ingest).whipUrl as string | null, PATIENT);
  const headers = { authorization: `Bearer ${streamKey}`, 'content-type': 'application/sdp' };
  const refused = await fetch(whipUrl, { method: 'POST', headers, body: 'v=0\r\n' });
  assert.equal(refused.status, 400);
  assert.equal(Object(await refused.json()).error.field, 'body');

  const encoder = startWhip(whipUrl, streamKey);
  try {
    const seen = await waitFor(
      async () => {
        const { pixel, peak } = await seenIn(playbackUrl).catch(() => ({
          pixel: Buffer.alloc(3),
          peak: -99,
        }));
        const [red = 0, green = 0] = pixel;
        return green > red + 40 && peak > -40 ? { green, peak } : null;
      },
      { ...PATIENT, timeoutMs: 30_000, message: 'the picture and the sound of the encoder' },
    );
    assert.ok(seen.green > 100);
    const rtmp = `rtmp://127.0.0.1:${platform.rtmpPort}/live/${streamKey}`;
    const other = startPublisher({ url: rtmp, width: 320, height: 180, fps: 15 });
    const heightOf = async () => Object((await of()).health).height;
    try {
      await waitFor(async () => (await heightOf()) === 180, { ...PATIENT, message: 'the other encoder' });
    } finally {
      await other.stop();
    }
    const again = startWhip(whipUrl, streamKey);
    await waitFor(async () => (await of()).hasSignal, { ...PATIENT, message: 'the signal again' });
    again.kill('SIGINT');
    await waitFor(async () => !(await of()).hasSignal, { ...PATIENT, message: 'the end of the signal' });
  } finally {
    encoder.kill('SIGKILL');
  }
});

test('a page publishes by WHIP', { skip: NO_JANUS }, async () => {
  const { id, streamKey, playbackUrl } = await partner.createStream({ autoStart: true });
  const { page } = await browser.open(`${platform.url}/api/v1/health`, { initScript: WHIP_CLIENT });
  const answer = await page.evaluate<string>(`whip('/whip', '${streamKey}')`);
  assert.match(answer, /H264/);
  assert.doesNotMatch(answer, /VP8|VP9|AV1/);
  await waitFor(async () => (await fetch(playbackUrl)).ok, { ...PATIENT, message: 'the broadcast' });
  await waitFor(
    async () => {
      const { pixel, peak } = await seenIn(playbackUrl).catch(() => ({ pixel: Buffer.alloc(3), peak: -99 }));
      const [red = 0, green = 0] = pixel;
      return green > red + 40 && peak > -40;
    },
    { ...PATIENT, timeoutMs: 30_000, message: 'the picture and the sound of the page' },
  );
  // A publisher with the old key is disconnected.
  await call('POST', `/streams/${id}/rotate-key`);
  await page.waitForFunction("['closed', 'failed', 'disconnected'].includes(pc.connectionState)", null, SLOW);
  await waitFor(async () => !(await partner.stream(id)).hasSignal, PATIENT);
});

/** Starts a real encoder that sends green video and a tone. */
function startWhip(whipUrl: string, streamKey: string) {
  const picture = ['-re', '-f', 'lavfi', '-i', 'color=green:size=640x360:rate=25'];
  const sound = ['-re', '-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000'];
  const coded =
    '-c:v libx264 -preset ultrafast -tune zerolatency -pix_fmt yuv420p -bf 0 -g 50 -c:a libopus -ac 2';
  const target = ['-f', 'whip', '-authorization', streamKey, whipUrl];
  return spawn(CURRENT_FFMPEG, ['-v', 'error', ...picture, ...sound, ...coded.split(' '), ...target], {
    stdio: 'ignore',
  });
}
