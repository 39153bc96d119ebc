import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import Stripe from 'stripe';
import { type HttpsSink, startHttpsSink } from '../test/harness/https-sink.ts';
import { BROADCAST_EVENTS, createPartner, type Partner } from '../test/harness/partner.ts';
import {
  freePort,
  headersOf,
  marquee,
  type RunningPlatform,
  startPlatform,
} from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { type Publisher, startPublisher } from '../test/rtmp/publisher.ts';

let platform: RunningPlatform;
let sink: HttpsSink;
let partner: Partner;
/** Folder of the certificate for RTMPS. */
let folder: string;
let rtmpsPort: number;
/** API key of test mode. */
let testKey: string;
const publishers = new Set<Publisher>();

function publish(streamKey: string, seconds?: number): Publisher {
  const url = `rtmp://127.0.0.1:${platform.rtmpPort}/live/${streamKey}`;
  const publisher = startPublisher({
    url,
    width: 320,
    height: 180,
    fps: 15,
    ...(seconds === undefined ? {} : { seconds }),
  });
  publishers.add(publisher);
  return publisher;
}

const statusOf = async (url: string) => (await fetch(url)).status;

/** Types of the broadcast events that a webhook got for a stream, in the order of arrival. */
function received(streamId: string): string[] {
  return sink.requests
    .filter((request) => request.rawBody.includes(streamId))
    .map((request) => String(request.headers['svc-event-type']))
    .filter((type) => BROADCAST_EVENTS.includes(type));
}

before(async () => {
  sink = await startHttpsSink();
  folder = await mkdtemp(join(tmpdir(), 'marquee-broadcast-'));
  await installCertificate();
  rtmpsPort = await freePort();
  platform = await startPlatform({
    isFirstStart: true,
    environment: {
      WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8',
      NODE_EXTRA_CA_CERTS: sink.ca.file,
      SIGNAL_GRACE_MS: '3000',
      LIVE_MAX_RUNGS: '0',
      RTMPS_PORT: String(rtmpsPort),
      TLS_CERT_FILE: join(folder, 'cert.pem'),
      TLS_KEY_FILE: join(folder, 'key.pem'),
    },
  });
  partner = createPartner(platform);
  const args = 'key create --account owner@marquee.localhost --scope STANDARD --mode test';
  testKey = String(Object(await marquee(platform, ...args.split(' '))).key);
});

after(async () => {
  await Promise.all([...publishers].map((publisher) => publisher.stop()));
  await platform?.stop();
  await sink?.close();
  await rm(folder, { recursive: true, force: true });
});

async function installCertificate(): Promise<void> {
  const { key, cert } = await sink.ca.issue(['127.0.0.1', 'localhost']);
  await writeFile(join(folder, 'key.pem'), key);
  await writeFile(join(folder, 'cert.pem'), cert);
}

test('one broadcast: four signed events in order, public only between start and stop', async () => {
  const webhook = await partner.createWebhook(`${sink.url}/one`, ['stream.*']);
  const stream = await partner.createStream();
  const master = `${platform.url}/live/${stream.id}/master.m3u8`;
  const encoder = publish(stream.streamKey);
  await waitFor(async () => (await partner.stream(stream.id)).hasSignal, { timeoutMs: 10_000 });
  assert.equal(await statusOf(master), 404, 'a signal alone is not public');

  await partner.start(stream.id);
  await waitFor(async () => (await statusOf(master)) === 200, { timeoutMs: 1000, message: '200 within 1 s' });
  const media = await (await fetch(new URL('src/index.m3u8', master))).text();
  assert.match(media, /#EXTINF/, 'a player that comes right after the start finds a segment');
  const segment = media.split('\n').findLast((line) => line.endsWith('.m4s')) ?? '';
  const segmentUrl = new URL(segment, new URL('src/index.m3u8', master)).href;
  assert.equal(await statusOf(segmentUrl), 200);

  await partner.stop(stream.id);
  await waitFor(async () => (await statusOf(master)) === 404, {
    timeoutMs: 1000,
    message: '404 of the master',
  });
  const newcomer = { headers: { 'user-agent': 'Somebody new' } };
  for (const url of [master, new URL('src/index.m3u8', master).href, segmentUrl]) {
    assert.equal((await fetch(url, newcomer)).status, 404, `${url} is not for who comes after the stop`);
  }
  assert.equal(await statusOf(segmentUrl), 200, 'who was watching sees the rest');
  const rest = async () => (await fetch(new URL('src/index.m3u8', master))).text();
  await waitFor(async () => /#EXT-X-ENDLIST/.test(await rest()), { timeoutMs: 10_000, message: 'the end' });
  const preview = (await partner.stream(stream.id)).previewUrl ?? '';
  assert.equal(
    await statusOf(preview.replace(/^https?:\/\/[^/]+/, platform.url)),
    200,
    'the preview goes on',
  );
  await encoder.stop();
  await waitFor(() => received(stream.id).length === 4, {
    timeoutMs: 10_000,
    message: () => String(received(stream.id)),
  });
  assert.deepEqual(received(stream.id), [
    'stream.live',
    'stream.broadcast_started',
    'stream.broadcast_stopped',
    'stream.ended',
  ]);
  const stripe = new Stripe('sk_test_unused');
  for (const request of sink.requests) {
    stripe.webhooks.constructEvent(
      request.rawBody,
      String(request.headers['svc-signature']),
      webhook.signingSecret,
    );
    assert.equal(request.headers['svc-event-timestamp'], undefined);
    assert.equal(request.headers['user-agent'], 'svc-webhook/1.0');
    assert.equal(request.headers['content-type'], 'application/json');
  }
});

test('a start before the encoder serves a valid empty live playlist, and the encoder fills it', async () => {
  const stream = await partner.createStream();
  const master = `${platform.url}/live/${stream.id}/master.m3u8`;
  const started = await partner.start(stream.id);
  assert.equal(started.startedAt, null, 'nothing has been broadcast yet');
  await waitFor(async () => (await statusOf(master)) === 200, { timeoutMs: 1000 });
  const empty = await (await fetch(new URL('src/index.m3u8', master))).text();
  assert.match(empty, /#EXT-X-TARGETDURATION/);
  assert.doesNotMatch(empty, /#EXTINF|#EXT-X-ENDLIST/);
  const encoder = publish(stream.streamKey);
  await waitFor(
    async () => (await (await fetch(new URL('src/index.m3u8', master))).text()).includes('#EXTINF'),
    {
      timeoutMs: 15_000,
    },
  );
  assert.notEqual((await partner.stream(stream.id)).startedAt, null);
  await partner.stop(stream.id);
  await encoder.stop();
});

test('a wrong stream key is rejected and no stream gets a signal', async () => {
  const encoder = publish('no-such-key', 5);
  const { code, stderr } = await encoder.exited;
  assert.notEqual(code, 0);
  assert.match(stderr, /BadName|Server error|Operation not permitted|Input\/output error/i);
  assert.deepEqual((await partner.call('GET', '/streams?hasSignal=true')).data, []);
});

test('a rotated key disconnects its publisher and is rejected from then on', async () => {
  const stream = await partner.createStream();
  const encoder = publish(stream.streamKey);
  await waitFor(async () => (await partner.stream(stream.id)).hasSignal, { timeoutMs: 10_000 });
  await partner.call('POST', `/streams/${stream.id}/rotate-key`);
  await encoder.exited;
  await waitFor(async () => !(await partner.stream(stream.id)).hasSignal, { timeoutMs: 10_000 });
  assert.notEqual((await publish(stream.streamKey, 5).exited).code, 0);
});

test('a second encoder with the same key takes over without a false pair of events', async () => {
  const stream = await partner.createStream();
  const first = publish(stream.streamKey);
  await waitFor(async () => (await partner.stream(stream.id)).hasSignal, { timeoutMs: 10_000 });
  const second = publish(stream.streamKey);
  await first.exited;
  assert.equal((await partner.stream(stream.id)).hasSignal, true);
  await second.stop();
  await waitFor(async () => !(await partner.stream(stream.id)).hasSignal, { timeoutMs: 10_000 });
  await waitFor(() => received(stream.id).length >= 2);
  assert.deepEqual(received(stream.id), ['stream.live', 'stream.ended']);
});

/** Returns the fingerprint of the certificate that the RTMPS port uses now. */
function currentFingerprint(): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: rtmpsPort, host: '127.0.0.1', ca: sink.ca.pem }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

/** Calls the API in test mode. */
async function callTest(method: string, path: string, body?: object) {
  const response = await fetch(`${platform.api}${path}`, {
    method,
    headers: headersOf(testKey),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { data, error } = Object(await response.json());
  return { status: response.status, data: Object(data), error };
}

async function createTestStream() {
  const { data } = await callTest('POST', '/streams', { title: 'Rehearsal' });
  const hasSignal = async () => (await callTest('GET', `/streams/${data.id}`)).data.hasSignal === true;
  return { id: String(data.id), streamKey: String(data.streamKey), hasSignal };
}

/** Asserts that a viewer whose player sends beacons counts, and one whose player does not. */
async function assertViewersCount(id: string, master: string) {
  const page = await (await fetch(`${platform.url}/embed/${id}`)).text();
  const session = / session="([^"]*)"/.exec(page)?.[1];
  const events = [{ type: 'PLAY', positionSec: 0, at: performance.timeOrigin + performance.now() }];
  const body = JSON.stringify({ session, n: 0, events });
  const told = await fetch(`${platform.url}/playback/beacon`, { method: 'POST', body });
  assert.equal(told.status, 204);
  const [path = ''] = (await (await fetch(master)).text()).split('\n').filter((line) => /^[^#]/.test(line));
  const ask = async (headers = {}) => (await fetch(new URL(path, master), { headers })).ok;
  const count = async () => (await callTest('GET', `/streams/${id}`)).data.viewerCount;
  await waitFor(async () => (await ask()) && (await ask({ 'user-agent': 'VLC' })) && (await count()) === 2, {
    timeoutMs: 15_000,
    intervalMs: 500,
    message: 'two viewers',
  });
  const { data } = await callTest('GET', `/streams/${id}/sessions`);
  const { peakViewers, uniqueViewers } = Object(data[0]);
  assert.deepEqual([peakViewers, uniqueViewers], [2, 2]);
}

async function assertHealthIsMeasured(id: string) {
  const { data } = await waitFor(
    async () => {
      const answer = await callTest('GET', `/streams/${id}/health`);
      return answer.data.points.length > 0 && answer.data.current?.keyframeIntervalSec ? answer : null;
    },
    { timeoutMs: 20_000, intervalMs: 500, message: 'a point of health' },
  );
  const { codec, keyframeIntervalSec, droppedFrames } = data.current;
  assert.match(codec, /^avc1\./);
  assert.deepEqual([Math.round(keyframeIntervalSec), droppedFrames], [2, 0]);
  assert.ok(data.points.at(-1).bitrateKbps > 0, JSON.stringify(data.points));
}

// They mostly wait, so they run concurrently.
describe('RTMPS and simulated signals', { concurrency: true }, () => {
  test('an encoder publishes over TLS, and continues while the certificate is renewed', async (t) => {
    const { id, streamKey } = await partner.createStream();
    const { data } = await partner.call('GET', `/streams/${id}`);
    const text = JSON.stringify(data);
    assert.ok(text.includes(`"rtmpsUrl":"rtmps://localhost:${rtmpsPort}/live"`), text);

    const encoder = startPublisher({
      url: `rtmps://127.0.0.1:${rtmpsPort}/live/${streamKey}`,
      width: 320,
      height: 180,
      fps: 15,
    });
    t.after(() => encoder.stop());
    await waitFor(async () => (await partner.stream(id)).hasSignal, {
      timeoutMs: 15_000,
      message: 'the signal',
    });
    await partner.start(id);
    await waitFor(async () => (await fetch(`${platform.url}/live/${id}/master.m3u8`)).ok, {
      timeoutMs: 15_000,
    });

    const before = await currentFingerprint();
    // An incomplete renewal, as certbot leaves it for a moment: the old certificate stays in use.
    await writeFile(join(folder, 'key.pem'), 'not yet');
    await waitFor(() => platform.output().includes('cannot reload the RTMPS certificate'), {
      timeoutMs: 20_000,
    });
    assert.equal(await currentFingerprint(), before);
    await installCertificate();
    await waitFor(async () => (await currentFingerprint()) !== before, {
      timeoutMs: 20_000,
      message: 'the new certificate',
    });
    assert.equal((await partner.stream(id)).hasSignal, true);
  });

  test('a certificate without its key stops the start with an error that names the variables', async () => {
    const environment = { TLS_CERT_FILE: join(folder, 'cert.pem'), TLS_KEY_FILE: join(folder, 'cert.pem') };
    await assert.rejects(startPlatform({ environment }), /TLS_CERT_FILE and TLS_KEY_FILE/);
  });

  test('a simulated signal is broadcast, counted and measured like that of an encoder, and ends on request', async () => {
    const { id, hasSignal } = await createTestStream();
    const on = await callTest('POST', `/streams/${id}/simulate-signal`, { on: true, seconds: 60 });
    assert.equal(on.status, 200, JSON.stringify(on.error));
    await waitFor(hasSignal, { timeoutMs: 15_000, message: 'the signal' });
    const picture = async () => fetch(String((await callTest('GET', `/streams/${id}`)).data.thumbnailUrl));
    await waitFor(async () => (await picture()).ok, { timeoutMs: 20_000, message: 'the first picture' });
    assert.equal((await fetch(`${platform.url}/live/${id}/thumbnail.jpg`)).status, 404, 'of the preview');
    const bytes = Buffer.from(await (await picture()).arrayBuffer());
    assert.deepEqual([...bytes.subarray(0, 2)], [0xff, 0xd8], 'a JPEG');
    await callTest('POST', `/streams/${id}/start`);
    assert.equal((await picture()).status, 404, 'what was before the broadcast is not shown');
    await waitFor(async () => (await picture()).ok, {
      timeoutMs: 15_000,
      message: 'a picture of the broadcast',
    });
    const master = `${platform.url}/live/${id}/master.m3u8`;
    await waitFor(async () => (await fetch(master)).ok, { timeoutMs: 15_000, message: 'the playlist' });
    await assertViewersCount(id, master);
    await assertHealthIsMeasured(id);
    await callTest('POST', `/streams/${id}/simulate-signal`, { on: false });
    await waitFor(async () => !(await hasSignal()), { timeoutMs: 15_000, message: 'the end of the signal' });
    const { data } = await callTest('GET', '/me/events?limit=50');
    const types = [...Object.values(data)].map((event) => Object(event).type);
    for (const type of ['stream.live', 'stream.broadcast_started', 'stream.ended'])
      assert.ok(types.includes(type), type);
    assert.equal((await callTest('GET', `/streams/${id}/health`)).data.healthy, null);
  });

  test('a simulated signal does not return while an encoder publishes', async (t) => {
    const { id, streamKey, hasSignal } = await createTestStream();
    await callTest('POST', `/streams/${id}/simulate-signal`, { on: true, seconds: 60 });
    await waitFor(hasSignal, { timeoutMs: 15_000, message: 'the signal' });
    const encoder = startPublisher({
      url: `rtmp://127.0.0.1:${platform.rtmpPort}/live/${streamKey}`,
      width: 320,
      height: 180,
      fps: 15,
    });
    t.after(() => encoder.stop());
    const height = async () => (await callTest('GET', `/streams/${id}`)).data.health?.height;
    await waitFor(async () => (await height()) === 180, {
      timeoutMs: 30_000,
      message: 'the picture of the encoder',
    });
    // The simulator checks every second; if it took the stream back, the encoder's connection would end.
    const ended = encoder.exited.then(() => 'cut off');
    assert.equal(await Promise.race([ended, sleep(3000, 'left alone')]), 'left alone');
  });
});
