import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { NO_NGINX_RTMP, startNginxRtmp } from '../test/restream/destinations.ts';
import { type Publisher, startPublisher } from '../test/rtmp/publisher.ts';

const AGAIN_MS = 300;
const KEYS = ['far-end-one', 'far-end-two'];

interface Target {
  connectedAt: string | null;
}

const restreamOf = async (partner: Partner, id: string) => {
  const { data } = await partner.call('GET', `/restreams/${id}`);
  return data as unknown as { status: string; targets: Target[] };
};
/** All destinations were connected after this moment, and take the broadcast. */
const isActive = (partner: Partner, id: string, sinceMs = 0) =>
  waitFor(
    async () => {
      const { status, targets } = await restreamOf(partner, id);
      const isNew = ({ connectedAt }: Target) => Date.parse(connectedAt ?? '') > sinceMs;
      return status === 'ACTIVE' && targets.every(isNew);
    },
    { timeoutMs: 20_000, intervalMs: 100, message: 'both destinations take the broadcast' },
  );

/** Returns the descendants of `pid` whose command line contains the text. */
function below(pid: number, words: string): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args=']).toString().trim().split('\n');
  const rows = lines.map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line));
  const children = rows.filter((row) => Number(row?.[2]) === pid);
  return children.flatMap((row) => [
    ...(row?.[3]?.includes(words) ? [Number(row[1])] : []),
    ...below(Number(row?.[1]), words),
  ]);
}

test('a restream recovers without intervention from every kind of end', {
  skip: NO_NGINX_RTMP,
}, async (t) => {
  const far = await startNginxRtmp(t);
  const dir = await mkdtemp(join(tmpdir(), 'marquee-restream-'));
  const environment = { FETCH_ALLOW_PRIVATE: '127.0.0.0/8', LIVE_MAX_RUNGS: '0', LOG_LEVEL: 'info' };
  let platform: RunningPlatform = await startPlatform({ environment, dataDir: join(dir, 'data') });
  let said = '';
  let encoder: Publisher | null = null;
  let isOver = false;
  t.after(async () => {
    isOver = true;
    encoder?.kill('SIGKILL');
    await platform.stop();
    await rm(dir, { recursive: true, force: true });
  });
  /** Reconnects like an encoder until the test ends. */
  const publish = (streamKey: string) => {
    const url = `rtmp://127.0.0.1:${platform.rtmpPort}/live/${streamKey}`;
    encoder = startPublisher({ url, width: 320, height: 180, fps: 15, bitrateKbps: 200 });
    void encoder.exited.then(() => !isOver && setTimeout(() => !isOver && publish(streamKey), AGAIN_MS));
  };
  const flows = async (key: string) => {
    const { bytes: before } = (await far.stream(key)) ?? { bytes: 0 };
    await waitFor(async () => ((await far.stream(key))?.bytes ?? 0) > before, { timeoutMs: 10_000 });
  };
  const partner = createPartner(platform);
  const { id: streamId, streamKey } = await partner.createStream();
  const targets = KEYS.map((key) => ({ url: far.url, streamKey: key }));
  const made = await partner.call('POST', '/restreams', { streamId, targets });
  const id = String(Object(made.data).id);
  await partner.start(streamId);
  publish(streamKey);
  await isActive(partner, id);
  for (const key of KEYS) await flows(key);

  // The process that sends.
  const [sender = 0, ...others] = below(platform.process.pid ?? 0, '/sender.');
  assert.deepEqual(others, [], 'one for the stream');
  let endedMs = Date.now();
  process.kill(sender, 'SIGKILL');
  await isActive(partner, id, endedMs);
  for (const key of KEYS) await flows(key);
  const { data: events } = await partner.call('GET', '/me/events?type=restream.*&limit=20');
  const types = (events as unknown as { type: string }[]).map(({ type }) => type);
  assert.equal(types.filter((type) => type === 'restream.target.disconnected').length, 2);
  assert.equal(types.filter((type) => type === 'restream.target.connected').length, 4);

  // Stream keys appear neither in process arguments nor in the log.
  const shown = execFileSync('ps', ['-eo', 'args=']).toString();
  assert.ok(!KEYS.some((key) => shown.includes(key)));

  // The media process, and with it the encoder.
  const [media = 0] = below(platform.process.pid ?? 0, '/media.');
  endedMs = Date.now();
  process.kill(media, 'SIGKILL');
  await isActive(partner, id, endedMs);
  for (const key of KEYS) await flows(key);

  // The whole program.
  const ended = once(platform.process, 'exit');
  endedMs = Date.now();
  platform.process.kill('SIGKILL');
  await ended;
  said += platform.output();
  await waitFor(async () => (await far.stream(KEYS[0] ?? ''))?.publishing !== true, { timeoutMs: 5000 });
  const { port, rtmpPort, dataDir } = platform;
  platform = await startPlatform({ environment, dataDir, port, rtmpPort });
  await isActive(partner, id, endedMs);
  for (const key of KEYS) await flows(key);

  // The stop, which is one for the destinations too.
  await partner.stop(streamId);
  const stoppedMs = performance.now();
  await waitFor(async () => (await far.stream(KEYS[1] ?? ''))?.publishing !== true, { timeoutMs: 2000 });
  assert.ok(performance.now() - stoppedMs < 6000);
  assert.equal((await restreamOf(partner, id)).status, 'IDLE');
  await waitFor(() => below(platform.process.pid ?? 0, '/sender.').length === 0);
  said += platform.output();
  assert.ok(!KEYS.some((key) => said.includes(key)));
});
