import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type HttpsSink, startHttpsSink } from '../test/harness/https-sink.ts';
import { BROADCAST_EVENTS, createPartner, type Partner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { childrenOf, singleItem } from '../test/harness/processes.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { type Publisher, startPublisher } from '../test/rtmp/publisher.ts';

/** One platform for all tests; whatever a fault stops is restarted for the next test. */
let dir: string;
let sink: HttpsSink;
let platform: RunningPlatform;
let partner: Partner;
const publishers: Publisher[] = [];

before(async () => {
  sink = await startHttpsSink();
  dir = await mkdtemp(join(tmpdir(), 'marquee-faults-'));
  await start({ SIGNAL_GRACE_MS: '30000' });
  await partner.createWebhook(`${sink.url}/hook`, BROADCAST_EVENTS);
});
after(async () => {
  for (const publisher of publishers) await publisher.stop();
  await platform?.stop();
  await sink?.close();
  await rm(dir, { recursive: true, force: true });
});

/** Starts the platform on the data and ports of the previous one, if there was one. */
async function start(more: Record<string, string>): Promise<void> {
  const environment = {
    WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8',
    WEBHOOK_RETRY_SECONDS: '1,1,1,1,1,1',
    NODE_EXTRA_CA_CERTS: sink.ca.file,
    ...more,
  };
  const ports = platform === undefined ? {} : { port: platform.port, rtmpPort: platform.rtmpPort };
  platform = await startPlatform({ environment, dataDir: join(dir, 'data'), ...ports });
  partner = createPartner(platform);
}

/** @param lines high: above 360 there is a lower quality. */
function publish(streamKey: string, lines = 180): Publisher {
  const publisher = startPublisher({
    url: `rtmp://127.0.0.1:${platform.rtmpPort}/live/${streamKey}`,
    width: (lines * 16) / 9,
    height: lines,
    fps: 15,
  });
  publishers.push(publisher);
  return publisher;
}

/** Returns the event types that the webhook received for a stream. */
function webhookEventTypes(streamId: string): string[] {
  return sink.requests
    .filter(({ path }) => path === '/hook')
    .map(({ rawBody }): { type: string; data: Record<string, unknown> } => JSON.parse(String(rawBody)))
    .filter(({ data }) => data.streamId === streamId)
    .map(({ type }) => type);
}

async function waitForWebhookEvent(streamId: string, type: string): Promise<void> {
  const message = () => `${type}; there were ${webhookEventTypes(streamId)}`;
  await waitFor(() => webhookEventTypes(streamId).includes(type), { timeoutMs: 15_000, message });
}

/** A rendition's playlist, as viewers get it. */
async function playlistOf(streamId: string, rung = 'src'): Promise<string> {
  const response = await fetch(`${platform.url}/live/${streamId}/${rung}/index.m3u8`);
  return response.ok ? response.text() : '';
}

const count = (text: string, what: RegExp) => [...text.matchAll(what)].length;

/** Waits for two segments of a second epoch. @returns the playlist. */
async function untilNewEpoch(streamId: string): Promise<string> {
  const newest = (text: string) => text.split('#EXT-X-DISCONTINUITY\n').slice(1).at(-1) ?? '';
  await waitFor(async () => count(newest(await playlistOf(streamId)), /#EXTINF/g) >= 2, {
    timeoutMs: 15_000,
    message: 'segments of the new epoch',
  });
  return playlistOf(streamId);
}

async function liveStream(lines?: number) {
  const stream = await partner.createStream();
  const encoder = publish(stream.streamKey, lines);
  await waitFor(async () => (await partner.stream(stream.id)).hasSignal, { timeoutMs: 10_000 });
  await partner.start(stream.id);
  await waitFor(async () => count(await playlistOf(stream.id), /#EXTINF/g) >= 2, { timeoutMs: 15_000 });
  await waitForWebhookEvent(stream.id, 'stream.broadcast_started');
  return { stream, encoder };
}

test('after kill -9 of ffmpeg the source continues and the lower rendition recovers', async () => {
  const { stream, encoder } = await liveStream(378);
  const lastScaled = async () => {
    const files = (await playlistOf(stream.id, '360')).matchAll(/\/360\/s_(\d+)\.m4s$/gm);
    return Math.max(-1, ...[...files].map(([, index]) => Number(index)));
  };
  await waitFor(async () => (await lastScaled()) >= 1, { timeoutMs: 15_000, message: 'a lower quality' });
  const media = singleItem(childrenOf(platform.process.pid ?? -1, '/media.'));
  // The scaler; another ffmpeg may be taking a thumbnail of the broadcast.
  process.kill(singleItem(childrenOf(media, 'pipe:4')), 'SIGKILL');
  const before = await lastScaled();
  // Its current segment may be cut short; segments of the source replace the missing ones.
  const comesBack = async () => (await lastScaled()) >= before + 2;
  await waitFor(comesBack, { timeoutMs: 15_000, message: 'the lower quality again' });
  assert.equal(count(await playlistOf(stream.id), /#EXT-X-DISCONTINUITY$/gm), 0, platform.output());
  assert.equal((await partner.stream(stream.id)).hasSignal, true);
  assert.deepEqual(webhookEventTypes(stream.id), ['stream.live', 'stream.broadcast_started']);
  await partner.stop(stream.id);
  await encoder.stop();
});

test('kill -9 of the media process while live: same broadcast, one discontinuity, no false events', async () => {
  const { stream, encoder } = await liveStream();
  const before = await partner.stream(stream.id);

  process.kill(singleItem(childrenOf(platform.process.pid ?? -1, '/media.')), 'SIGKILL');
  await encoder.exited;
  // The encoder retries until the port is open.
  const again = await waitFor(
    async () => {
      const publisher = publish(stream.streamKey);
      const early = await Promise.race([
        publisher.exited.then(() => 'refused'),
        new Promise<'running'>((resolve) => setTimeout(resolve, 1500, 'running')),
      ]);
      return early === 'running' && publisher;
    },
    { timeoutMs: 8000 },
  );
  const playlist = await untilNewEpoch(stream.id);
  assert.equal(count(playlist, /#EXT-X-DISCONTINUITY$/gm), 1);
  const now = await partner.stream(stream.id);
  assert.equal(now.isLive, true);
  assert.equal(now.startedAt, before.startedAt, 'the same broadcast');
  assert.deepEqual(webhookEventTypes(stream.id), ['stream.live', 'stream.broadcast_started']);
  await partner.stop(stream.id);
  await again.stop();
  await waitForWebhookEvent(stream.id, 'stream.ended');
});

test('kill -9 of the whole program between commit and delivery: the event arrives, attempt one not eaten', async () => {
  const webhook = await partner.createWebhook(`${sink.url}/held`, BROADCAST_EVENTS);
  const stream = await partner.createStream();
  const arrived = () => sink.requests.filter(({ path }) => path === '/held');
  sink.reply = ({ path }) => (path === '/held' ? { fault: 'hang' } : {});
  await partner.start(stream.id);
  await waitFor(() => arrived().length === 1);
  // The receiver holds the request: the event is committed and not yet delivered.
  platform.process.kill('SIGKILL');
  await new Promise((resolve) => platform.process.once('exit', resolve));
  sink.reply = () => ({});
  await start({ SIGNAL_GRACE_MS: '1000' });
  await waitFor(() => arrived().length === 2, { timeoutMs: 45_000, message: 'the event once more' });
  const [held, delivered] = arrived();
  assert.equal(delivered?.headers['svc-event-id'], held?.headers['svc-event-id'], 'the same event');
  assert.deepEqual(delivered?.rawBody, held?.rawBody, 'byte for byte');
  const log = await waitFor(
    async () => {
      const { data } = await partner.call('GET', `/me/webhooks/${webhook.id}/deliveries`);
      return Array.isArray(data) && data.some((row) => row.status === 'SUCCESS') && data;
    },
    { timeoutMs: 5000 },
  );
  assert.equal(log.length, 1, 'one finished attempt');
  assert.equal(log[0].attempt, 1);
});

test('kill -9 of everything, the encoder included: the next start recovers by itself', async () => {
  const { stream, encoder } = await liveStream();
  const root = platform.process.pid ?? -1;
  const tree = [root, ...childrenOf(root, '/media.')].flatMap((pid) => [pid, ...childrenOf(pid, '')]);
  for (const pid of new Set(tree)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Ended with its parent.
    }
  }
  encoder.kill('SIGKILL');
  await start({ SIGNAL_GRACE_MS: '1000' });
  await waitFor(async () => !(await partner.stream(stream.id)).hasSignal, { timeoutMs: 10_000 });
  const after = await partner.stream(stream.id);
  assert.equal(after.isLive, true, 'only its creator ends a broadcast');
  assert.equal(after.status, 'LIVE_NO_SIGNAL');
  await waitForWebhookEvent(stream.id, 'stream.ended');
});
