import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { makeHls, slidingPlaylist } from '../test/bridges/hls.ts';
import { createTestCa, type TestCa } from '../test/harness/certificates.ts';
import { type HttpsSink, startHttpsSink } from '../test/harness/https-sink.ts';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { marquee, type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { countFrames } from '../test/restream/destinations.ts';
import { startPublisher } from '../test/rtmp/publisher.ts';

const SECONDS = 4;
const SECRET = 'a-secret-of-the-source';

interface BridgeData {
  id: string;
  status: string;
  error: string | null;
  endReason: string | null;
  sourceUrl: string;
}

let ca: TestCa;
let source: HttpsSink;
let platform: RunningPlatform;
let partner: Partner;

/** A live source over HTTPS: segments of a second, over and over. */
before(async () => {
  ca = await createTestCa();
  const files = await makeHls(SECONDS);
  const startedMs = performance.now();
  source = await startHttpsSink({ ca });
  source.reply = ({ path }) => {
    const name = path.split('?')[0]?.slice(1) ?? '';
    if (name === 'index.m3u8') return { body: slidingPlaylist(SECONDS, startedMs) };
    const body = files.get(name);
    return body === undefined ? { status: 404 } : { body };
  };
  const environment = {
    FETCH_ALLOW_PRIVATE: '127.0.0.0/8',
    NODE_EXTRA_CA_CERTS: ca.file,
    LIVE_MAX_RUNGS: '0',
    SIGNAL_GRACE_MS: '8000',
    LOG_LEVEL: 'debug',
  };
  platform = await startPlatform({ environment });
  partner = createPartner(platform);
});
after(async () => {
  await platform.stop();
  await source.close();
  await ca.close();
});

const bridgeOf = async (id: string) =>
  (await partner.call('GET', `/bridges/${id}`)).data as unknown as BridgeData;
const makeBridge = async (targetId: string, sourceUrl: string, more: object = {}) => {
  const { data } = await partner.call('POST', '/bridges', {
    type: 'PULL_TO_STREAM',
    sourceUrl,
    targetId,
    ...more,
  });
  return String(Object(data).id);
};
const when = (id: string, status: string) =>
  waitFor(
    async () => {
      const bridge = await bridgeOf(id);
      return bridge.status === status ? bridge : null;
    },
    { timeoutMs: 15_000, intervalMs: 100, message: status },
  );
const events = async (type: string) => {
  const { data } = await partner.call('GET', `/me/events?type=${type}&limit=50`);
  return (data as unknown as unknown[]).length;
};
const mediaProcess = () => {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args=']).toString().split('\n');
  const row = lines
    .map((line) => line.trim().split(/\s+/))
    .find(
      ([, parent, ...args]) => Number(parent) === platform.process.pid && args.join(' ').includes('/media.'),
    );
  return Number(row?.[0]);
};

test('a bridge broadcasts its source, and recovers when its process is killed', async () => {
  const { id: streamId, playbackUrl } = await partner.createStream();
  const id = await makeBridge(streamId, `${source.url}/index.m3u8?token=${SECRET}`);
  await when(id, 'ACTIVE');
  assert.equal((await partner.stream(streamId)).hasSignal, true);
  await partner.start(streamId);
  await waitFor(async () => (await fetch(playbackUrl)).ok, { timeoutMs: 10_000 });
  let frames = 0;
  // Repeated: a source that a busy machine holds up for a second is replaced by fewer frames.
  await waitFor(
    async () => {
      frames = await countFrames(playbackUrl, 2);
      return frames >= 28 && frames <= 32;
    },
    { timeoutMs: 15_000, message: () => `${frames} frames in two seconds at 15 fps` },
  );

  const killed = mediaProcess();
  process.kill(killed, 'SIGKILL');
  await waitFor(() => mediaProcess() > 0 && mediaProcess() !== killed, {
    timeoutMs: 15_000,
    intervalMs: 100,
  });
  const fetched = source.requests.length;
  await waitFor(() => source.requests.length > fetched, {
    timeoutMs: 15_000,
    message: 'the source is asked',
  });
  await when(id, 'ACTIVE');
  assert.equal(await events('bridge.connected'), 1, 'a fault of the platform is told to nobody');
  assert.equal(await events('bridge.failed'), 0);
  assert.equal((await partner.stream(streamId)).isLive, true);

  await partner.stop(streamId);
  const ended = await when(id, 'STOPPED');
  assert.equal(ended.endReason, 'TARGET_ENDED');
  const asked = source.requests.length;
  await waitFor(() => platform.output().includes('unpublish'), { timeoutMs: 5000, message: 'a clean end' });
  assert.ok(source.requests.length <= asked + 2, 'nothing is fetched any more');
  const shown = execFileSync('ps', ['-eo', 'args=']).toString();
  assert.ok(!`${platform.output()}${shown}${JSON.stringify(ended)}`.includes(SECRET));
});

test('an encoder takes precedence over a bridge, and a failed bridge reports its error', async () => {
  const { id: streamId, streamKey } = await partner.createStream();
  const id = await makeBridge(streamId, `${source.url}/index.m3u8`, { autoRestart: true });
  await when(id, 'ACTIVE');
  const url = `rtmp://127.0.0.1:${platform.rtmpPort}/live/${streamKey}`;
  const encoder = startPublisher({ url, width: 320, height: 180, fps: 15 });
  assert.equal((await when(id, 'STOPPED')).endReason, 'TARGET_TAKEN');
  assert.equal((await partner.stream(streamId)).hasSignal, true);
  await encoder.stop();
  const { id: other } = await partner.createStream();
  const failed = await makeBridge(other, `${source.url}/nothing.m3u8`);
  assert.equal((await when(failed, 'FAILED')).error, 'The source returned status 404.');
  assert.equal((await partner.stream(other)).hasSignal, false);
});

test('a suspended account fetches nothing after five seconds', async () => {
  const { id: streamId } = await partner.createStream();
  const id = await makeBridge(streamId, `${source.url}/index.m3u8`, { autoRestart: true });
  await when(id, 'ACTIVE');
  const standing = (act: string) => marquee(platform, 'account', act, '--email', 'owner@marquee.localhost');
  await standing('suspend');
  const suspendedMs = performance.now();
  // The source has a segment per second, and is polled twice per segment.
  await waitFor(
    () => {
      const lastMs = source.requests.at(-1)?.at ?? 0;
      return Date.now() - lastMs > 2500;
    },
    { timeoutMs: 10_000, message: 'the source is left alone' },
  );
  assert.ok(performance.now() - suspendedMs < 7500);
  await standing('unsuspend');
  assert.equal((await when(id, 'STOPPED')).endReason, 'SUSPENDED');
});
