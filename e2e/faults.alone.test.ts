import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type HttpsSink, startHttpsSink } from '../test/harness/https-sink.ts';
import { BROADCAST_EVENTS, createPartner, type Partner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { childrenOf, only } from '../test/harness/processes.ts';
import { until } from '../test/harness/wait.ts';
import { type Publisher, startPublisher } from '../test/rtmp/publisher.ts';

const cleanups: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

interface Setup {
  platform: RunningPlatform;
  sink: HttpsSink;
  partner: Partner;
  environment: Record<string, string>;
}

async function setUp(environment: Record<string, string> = {}): Promise<Setup> {
  const sink = await startHttpsSink();
  cleanups.push(() => sink.close());
  const dir = await mkdtemp(join(tmpdir(), 'marquee-faults-'));
  cleanups.push(() => rm(dir, { recursive: true, force: true }));
  const all = { WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8', NODE_EXTRA_CA_CERTS: sink.ca.file, ...environment };
  const platform = await startPlatform({ environment: all, dataDir: join(dir, 'data') });
  cleanups.push(() => platform.stop());
  return { platform, sink, partner: createPartner(platform), environment: all };
}

function publish(platform: RunningPlatform, streamKey: string): Publisher {
  const publisher = startPublisher({
    url: `rtmp://127.0.0.1:${platform.rtmpPort}/live/${streamKey}`,
    width: 640,
    height: 360,
  });
  cleanups.push(() => publisher.stop());
  return publisher;
}

const typesOf = (sink: HttpsSink) =>
  sink.requests.map((request) => String(request.headers['svc-event-type']));

/** The source rendition's playlist, as viewers get it. */
async function playlistOf(platform: RunningPlatform, streamId: string): Promise<string> {
  const response = await fetch(`${platform.url}/live/${streamId}/src/index.m3u8`);
  return response.ok ? response.text() : '';
}

const count = (text: string, what: RegExp) => [...text.matchAll(what)].length;
/** Segments of the newest epoch; 0 while the playlist has only one. */
const segmentsAfterDiscontinuity = (text: string) =>
  count(text.split('#EXT-X-DISCONTINUITY\n').slice(1).at(-1) ?? '', /#EXTINF/g);

async function liveStream({ platform, sink, partner }: Setup) {
  await partner.createWebhook(`${sink.url}/hook`, BROADCAST_EVENTS);
  const stream = await partner.createStream();
  const encoder = publish(platform, stream.streamKey);
  await until(async () => (await partner.stream(stream.id)).hasSignal, { timeoutMs: 10_000 });
  await partner.start(stream.id);
  await until(async () => count(await playlistOf(platform, stream.id), /#EXTINF/g) >= 2, {
    timeoutMs: 15_000,
  });
  await sink.waitFor(2);
  return { stream, encoder };
}

test('kill -9 of the media process while live: same broadcast, one discontinuity, no false events', async () => {
  const setup = await setUp({ SIGNAL_GRACE_MS: '8000' });
  const { platform, sink, partner } = setup;
  const { stream, encoder } = await liveStream(setup);
  const before = await partner.stream(stream.id);

  process.kill(only(childrenOf(platform.process.pid ?? -1, 'media.ts')), 'SIGKILL');
  await encoder.exited;
  // An encoder tries again until the port answers.
  const again = await until(
    async () => {
      const publisher = publish(platform, stream.streamKey);
      const early = await Promise.race([
        publisher.exited.then(() => 'refused'),
        new Promise<'running'>((resolve) => setTimeout(resolve, 1500, 'running')),
      ]);
      return early === 'running' && publisher;
    },
    { timeoutMs: 8000 },
  );
  await until(async () => segmentsAfterDiscontinuity(await playlistOf(platform, stream.id)) >= 2, {
    timeoutMs: 15_000,
    message: 'segments of the new epoch',
  });
  const playlist = await playlistOf(platform, stream.id);
  assert.equal(count(playlist, /#EXT-X-DISCONTINUITY$/gm), 1);
  const now = await partner.stream(stream.id);
  assert.equal(now.isLive, true);
  assert.equal(now.startedAt, before.startedAt, 'the same broadcast');
  assert.deepEqual(typesOf(sink), ['stream.live', 'stream.broadcast_started']);
  await partner.stop(stream.id);
  await again.stop();
  await sink.waitFor(4);
});

test('kill -9 of ffmpeg: the packager goes on in a new epoch and viewers stay', async () => {
  const setup = await setUp();
  const { platform, sink, partner } = setup;
  const { stream, encoder } = await liveStream(setup);
  const media = only(childrenOf(platform.process.pid ?? -1, 'media.ts'));
  // The packager; another one may be taking a picture of the broadcast.
  process.kill(only(childrenOf(media, 'index.m3u8')), 'SIGKILL');
  await until(async () => segmentsAfterDiscontinuity(await playlistOf(platform, stream.id)) >= 2, {
    timeoutMs: 15_000,
    message: () => 'segments of the new epoch',
  });
  const playlist = await playlistOf(platform, stream.id);
  assert.equal(count(playlist, /#EXT-X-DISCONTINUITY$/gm), 1, `${playlist}\n${platform.output()}`);
  assert.equal((await partner.stream(stream.id)).hasSignal, true);
  assert.deepEqual(typesOf(sink), ['stream.live', 'stream.broadcast_started']);
  await partner.stop(stream.id);
  await encoder.stop();
});

test('kill -9 of the whole program between commit and delivery: the event arrives, attempt one not eaten', async () => {
  const { platform, sink, partner, environment } = await setUp({ WEBHOOK_RETRY_SECONDS: '1,1,1,1,1,1' });
  const webhook = await partner.createWebhook(`${sink.url}/hook`, BROADCAST_EVENTS);
  const stream = await partner.createStream();
  sink.reply = () => ({ fault: 'hang' });
  await partner.start(stream.id);
  await sink.waitFor(1);
  // The receiver holds the request: it is committed and not yet delivered.
  platform.process.kill('SIGKILL');
  await new Promise((resolve) => platform.process.once('exit', resolve));
  sink.reply = () => ({});
  const again = await startPlatform({
    environment,
    dataDir: platform.dataDir,
    port: platform.port,
    rtmpPort: platform.rtmpPort,
  });
  cleanups.push(() => again.stop());
  await sink.waitFor(2, 45_000);
  const [held, delivered] = sink.requests;
  assert.equal(delivered?.headers['svc-event-id'], held?.headers['svc-event-id'], 'the same event');
  assert.deepEqual(delivered?.rawBody, held?.rawBody, 'byte for byte');
  const log = await until(
    async () => {
      const { data } = await createPartner(again).call('GET', `/me/webhooks/${webhook.id}/deliveries`);
      return Array.isArray(data) && data.some((row) => row.status === 'SUCCESS') && data;
    },
    { timeoutMs: 5000 },
  );
  assert.equal(log.length, 1, 'one finished attempt');
  assert.equal(log[0].attempt, 1);
});

test('kill -9 of everything, the encoder included: the next start recovers by itself', async () => {
  const setup = await setUp({ SIGNAL_GRACE_MS: '1000' });
  const { platform, sink, environment } = setup;
  const { stream, encoder } = await liveStream(setup);
  const root = platform.process.pid ?? -1;
  const tree = [root, ...childrenOf(root, 'media.ts')].flatMap((pid) => [pid, ...childrenOf(pid, '')]);
  for (const pid of new Set(tree)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Ended with its parent.
    }
  }
  encoder.kill('SIGKILL');
  const again = await startPlatform({ environment, dataDir: platform.dataDir });
  cleanups.push(() => again.stop());
  const partner = createPartner(again);
  await until(async () => !(await partner.stream(stream.id)).hasSignal, { timeoutMs: 10_000 });
  const after = await partner.stream(stream.id);
  assert.equal(after.isLive, true, 'only its creator ends a broadcast');
  assert.equal(after.status, 'LIVE_NO_SIGNAL');
  await until(() => typesOf(sink).includes('stream.ended'), { timeoutMs: 10_000 });
});
