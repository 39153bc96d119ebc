import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Stripe from 'stripe';
import { type HttpsSink, startHttpsSink } from '../test/harness/https-sink.ts';
import { BROADCAST_EVENTS, createPartner, type Partner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { type Publisher, startPublisher } from '../test/rtmp/publisher.ts';

let platform: RunningPlatform;
let sink: HttpsSink;
let partner: Partner;
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
  platform = await startPlatform({
    isFirstStart: true,
    environment: {
      WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8',
      NODE_EXTRA_CA_CERTS: sink.ca.file,
      SIGNAL_GRACE_MS: '3000',
    },
  });
  partner = createPartner(platform);
});

after(async () => {
  await Promise.all([...publishers].map((publisher) => publisher.stop()));
  await platform?.stop();
  await sink?.close();
});

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
