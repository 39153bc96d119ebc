import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { launchBrowser, type TestBrowser } from '../test/harness/browser.ts';
import type { Partner } from '../test/harness/partner.ts';
import type { RunningPlatform } from '../test/harness/platform.ts';
import { childrenOf, singleItem } from '../test/harness/processes.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { chooseRealTime, HAS_WEBRTC, holds } from '../test/live/real-time-player.ts';
import { type Received, WHEP_CLIENT, type WhepAnswer } from '../test/live/whep-client.ts';
import { WHIP_CLIENT } from '../test/live/whip-client.ts';
import { NO_JANUS } from '../test/rooms/janus.ts';
import { startJanusPlatform } from '../test/rooms/janus-platform.ts';
import { openTraps } from '../test/rooms/udp-canaries.ts';
import { startPublisher } from '../test/rtmp/publisher.ts';

const PATIENT = { timeoutMs: 20_000, intervalMs: 100 };
/** Browsers report `disconnected` for the connection only some seconds later. */
const IS_OVER = "pc.getReceivers()[0].transport.state === 'closed'";
/** Small, because pages draw in software. */
const VIEWPORT = { width: 640, height: 360 };
const SDP = { 'content-type': 'application/sdp' };

let platform: RunningPlatform;
let browser: TestBrowser;
let partner: Partner;
let close = async () => {};
before(async () => {
  if (NO_JANUS === false) ({ platform, browser, partner, close } = await startJanusPlatform('21800-21899'));
});
after(() => close());

const encode = (streamKey: string, extraArgs: string[] = []) =>
  startPublisher({
    ...{ url: `rtmp://127.0.0.1:${platform.rtmpPort}/live/${streamKey}`, width: 320, height: 180 },
    ...{ fps: 15, extraArgs },
  });

/** Opens a page for one test: a page left open would encode and decode video during later tests. */
async function openPage(t: TestContext, path: string, initScript?: string): Promise<Page> {
  const options = initScript === undefined ? { viewport: VIEWPORT } : { initScript, viewport: VIEWPORT };
  const { page, close } = await browser.open(`${platform.url}${path}`, options);
  t.after(close);
  return page;
}

/** Opens a page of another origin than the URLs. */
const openPlayer = (t: TestContext) => openPage(t, '/api/v1/health', WHEP_CLIENT);
const openCamera = (t: TestContext) => openPage(t, '/api/v1/health', WHIP_CLIENT);

const watch = (page: Page, url: string) => page.evaluate<WhepAnswer>(`whep(${JSON.stringify(url)})`);
const received = (page: Page) => page.evaluate<Received>('received()');

async function plays(page: Page): Promise<void> {
  const before = (await received(page)).frames;
  await waitFor(
    async () => {
      const { frames, energy } = await received(page);
      return frames > before + 10 && energy > 0;
    },
    { ...PATIENT, message: 'the picture and the sound' },
  );
}

/** Returns the processes that encode Opus for viewers. */
function opusCoders(): number[] {
  const media = singleItem(childrenOf(platform.process.pid ?? -1, '/media.'));
  return childrenOf(media, '-c:a libopus');
}

test('a broadcast by RTMP plays by WHEP, behind the gate of HLS', { skip: NO_JANUS }, async (t) => {
  const { id, streamKey } = await partner.createStream({ visibility: 'PRIVATE' });
  const of = async () => Object(await partner.stream(id)) as Record<string, unknown>;
  const encoder = encode(streamKey);
  try {
    const whepUrl = await waitFor(async () => (await of()).whepUrl as string | null, PATIENT);
    await waitFor(async () => (await of()).hasSignal, PATIENT);
    const page = await openPlayer(t);
    assert.equal((await watch(page, whepUrl)).status, 404, 'nothing is shown before the start');
    await partner.start(id);
    const open = whepUrl.replace(/\?.*/, '');
    assert.equal((await watch(page, open)).status, 404, 'nor to anybody without a token');
    const bad = await fetch(whepUrl, { method: 'POST', headers: SDP, body: 'v=0\r\n' });
    assert.deepEqual([bad.status, Object(await bad.json()).error.field], [400, 'body']);

    const { status, session = '', viewers } = await watch(page, whepUrl);
    assert.deepEqual([status, viewers], [201, '0']);
    const trickled = await page.evaluate<number>(`trickle(${JSON.stringify(session)})`);
    assert.equal(trickled, 204);
    await plays(page);
    assert.equal(opusCoders().length, 1, 'AAC is coded for all who watch');
    await waitFor(async () => (await of()).viewerCount === 1, { ...PATIENT, message: 'the viewer to count' });

    const site = await openPage(t, `/watch/${id}${new URL(whepUrl).search}`);
    await chooseRealTime(site);
    await holds(site, HAS_WEBRTC);

    const stoppedMs = performance.now();
    await partner.stop(id);
    await page.waitForFunction(IS_OVER);
    assert.ok(performance.now() - stoppedMs < 10_000, 'it goes on after the stop');
    await site.locator('marquee-player').getByText('The broadcast has ended.').first().waitFor();
    assert.equal((await fetch(session, { method: 'DELETE' })).status, 404);

    await partner.start(id);
    const again = await watch(page, whepUrl);
    await plays(page);
    const ended = await page.evaluate(
      `fetch('${again.session}', { method: 'DELETE' }).then((one) => one.status)`,
    );
    assert.equal(ended, 200);
    await page.waitForFunction(IS_OVER);
    assert.equal((await fetch(String(again.session), { method: 'DELETE' })).status, 404);
  } finally {
    await encoder.stop();
  }
});

test('a page watches another one, whose audio arrives unchanged', { skip: NO_JANUS }, async (t) => {
  const { id, streamKey } = await partner.createStream({ autoStart: true });
  const camera = await openCamera(t);
  await camera.evaluate(`whip('/whip', '${streamKey}')`);
  await waitFor(async () => (await partner.stream(id)).isLive, PATIENT);
  const page = await openPlayer(t);
  assert.equal((await watch(page, `${platform.url}/whep/${id}`)).status, 201);
  await plays(page);
  assert.deepEqual(opusCoders(), []);
  // The browser conceals late or missing samples.
  const { concealed, samples } = await received(page);
  assert.ok(concealed < samples / 4, `${concealed} of ${samples} samples are made up`);
});

test('long names of sections, and lines that Janus stumbles over, are no hindrance', {
  skip: NO_JANUS,
}, async (t) => {
  const name = 'a-section-whose-name-is-long-';
  // Lines for the audio section, the last one of the offer.
  const more = ['a=msid:-', 'b=AS:', 'a=unknown:', 'a=rtcp-fb:'].map((line) => `${line}\r\n`).join('');
  const { id, streamKey } = await partner.createStream({ autoStart: true });
  const camera = await openCamera(t);
  await camera.evaluate(`whip('/whip', '${streamKey}', ${JSON.stringify({ more, name })})`);
  await waitFor(async () => (await partner.stream(id)).isLive, PATIENT);
  const page = await openPlayer(t);
  const { status, body } = await page.evaluate<WhepAnswer>(
    `whep('${platform.url}/whep/${id}', ${JSON.stringify(more)}, '${name}')`,
  );
  assert.equal(status, 201, body ?? '');
  await plays(page);
});

/** Returns the offer of a browser that sends video and audio. */
const OFFER = `(async () => {
  const pc = new RTCPeerConnection();
  for (const kind of ['video', 'audio']) pc.addTransceiver(kind, { direction: 'sendonly' });
  await pc.setLocalDescription();
  return pc.localDescription.sdp;
})()`;

test('an offer results in a session or in an error message', { skip: NO_JANUS }, async (t) => {
  const { streamKey } = await partner.createStream();
  const sdp = await (await openPlayer(t)).evaluate<string>(OFFER);
  const without = (line: RegExp) => sdp.replaceAll(line, '');
  const data = 'm=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:2\r\na=sctp-port:5000\r\n';
  const video = sdp.slice(sdp.indexOf('m=video'), sdp.indexOf('m=audio'));
  const offers: [what: string, offer: string, refusal: RegExp | null][] = [
    ['as it is', sdp, null],
    ['no role', without(/^a=setup:.*\r\n/gm), null],
    ['no data, but a line of it', `${sdp}a=sctp-port:5000\r\n`, null],
    ['ICE lite', sdp.replace('\r\nt=0 0', '\r\nt=0 0\r\na=ice-lite'), /ice-lite/],
    ['no bundle', without(/^a=group:.*\r\n/gm), /BUNDLE/],
    ['a data channel', sdp + data, /audio or video/],
    ['two pictures', sdp + video, /more than one video/],
    ['no fingerprint', without(/^a=fingerprint:.*\r\n/gm), /a=fingerprint/],
    ['no names', without(/^a=mid:.*\r\n/gm), /a=mid/],
    ['nobody tells packets apart', without(/^a=(?:ssrc|extmap).*\r\n/gm), /a=ssrc/],
    ['much', sdp + 'a=x:y\r\n'.repeat(2000), /2000 lines/],
  ];
  for (const [what, body, refusal] of offers) {
    const headers = { ...SDP, authorization: `Bearer ${streamKey}` };
    const answer = await fetch(`${platform.url}/whip`, { method: 'POST', headers, body });
    const text = await answer.text();
    assert.equal(answer.status, refusal === null ? 201 : 400, `${what}: ${text}`);
    if (refusal !== null) {
      const { error } = JSON.parse(text);
      assert.equal(error.field, 'body', what);
      assert.match(error.message, refusal);
      continue;
    }
    const session = new URL(answer.headers.get('location') ?? '', platform.url);
    assert.equal((await fetch(session, { method: 'DELETE' })).status, 200, what);
  }
});

test('offers cannot direct media to addresses that they name', { skip: NO_JANUS }, async (t) => {
  const { candidates, heard } = await openTraps(t);
  const more = candidates.map((one) => `a=${one}\r\n`).join('');
  const { id, streamKey } = await partner.createStream({ autoStart: true });
  // Browser that hides its own addresses behind mDNS names, as by default.
  const hiding = await launchBrowser();
  t.after(() => hiding.close());
  const open = async (initScript: string) =>
    (await hiding.open(`${platform.url}/api/v1/health`, { initScript })).page;
  const [camera, page] = [await open(WHIP_CLIENT), await open(WHEP_CLIENT)];
  await camera.evaluate(`whip('/whip', '${streamKey}', { more: ${JSON.stringify(more)} })`);
  assert.match(await camera.evaluate<string>('pc.localDescription.sdp'), /\.local /);
  await waitFor(async () => (await partner.stream(id)).isLive, PATIENT);
  const url = `${platform.url}/whep/${id}`;
  const { status } = await page.evaluate<WhepAnswer>(`whep('${url}', ${JSON.stringify(more)})`);
  assert.equal(status, 201);
  await plays(page);
  assert.deepEqual(heard, []);
});

test('the largest simulcast layer is shown, and DELETE ends the signal', {
  skip: NO_JANUS,
}, async (t) => {
  const { id, streamKey } = await partner.createStream({ autoStart: true });
  const camera = await openCamera(t);
  const encodings = [
    { rid: 'h', maxBitrate: 900_000 },
    { rid: 'l', maxBitrate: 200_000, scaleResolutionDownBy: 4 },
  ];
  await camera.evaluate(`whip('/whip', '${streamKey}', { encodings: ${JSON.stringify(encodings)} })`);
  const height = async () => Object((await partner.stream(id)).health).height;
  await waitFor(async () => (await height()) === 360, { ...PATIENT, message: 'the larger picture' });
  // Encoders close their connection, and delete the session some time later.
  const status = await camera.evaluate(`pc.close(); new Promise((resolve) => setTimeout(resolve, 500))
    .then(() => fetch(session, { method: 'DELETE' })).then((one) => one.status)`);
  assert.equal(status, 200);
  await waitFor(async () => !(await partner.stream(id)).hasSignal, { ...PATIENT, timeoutMs: 3000 });
});

test('real time starts automatically once it is available again', { skip: NO_JANUS }, async (t) => {
  const { id, streamKey } = await partner.createStream({ autoStart: true });
  const encoder = encode(streamKey);
  try {
    await waitFor(async () => (await partner.stream(id)).isLive, PATIENT);
    const site = await openPage(t, `/watch/${id}`);
    let asked = 0;
    await site.route('**/whep/**', (route) => {
      asked += 1;
      return route.fulfill({ status: 503 });
    });
    await chooseRealTime(site);
    await site.getByText('Real-time playback is not available').waitFor();
    await waitFor(() => asked >= 2, { ...PATIENT, message: 'it to be asked for again' });
    await holds(site, `!(${HAS_WEBRTC}) && document.querySelector('video').currentTime > 0`);
    await site.unroute('**/whep/**');
    await holds(site, HAS_WEBRTC);
  } finally {
    await encoder.stop();
  }
});

test('B-frames are rejected with a message', { skip: NO_JANUS }, async (t) => {
  const { id, streamKey } = await partner.createStream({ autoStart: true });
  const encoder = encode(streamKey, ['-bf', '2']);
  try {
    await waitFor(async () => (await partner.stream(id)).isLive, PATIENT);
    const page = await openPlayer(t);
    const { status, body = '' } = await watch(page, `${platform.url}/whep/${id}`);
    assert.equal(status, 409);
    assert.match(Object(JSON.parse(body)).error.message, /B-frames.*OBS/);
    const site = await openPage(t, `/watch/${id}`);
    await chooseRealTime(site);
    await site.getByText('Real-time playback is not available').waitFor();
    await holds(site, `!(${HAS_WEBRTC}) && document.querySelector('video').currentTime > 0`);
    const isTold = async () => (await partner.stream(id)).health?.issues.includes('B_FRAMES') === true;
    await waitFor(isTold, { ...PATIENT, message: 'the creator to be told' });
  } finally {
    await encoder.stop();
  }
});
