import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createPartner } from '../test/harness/partner.ts';
import { startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { startTwoProcesses } from '../test/live/media-processes.ts';
import { firstOf, nextPart, segmentsOf } from '../test/live/two-nodes.ts';
import { type Received, WHEP_CLIENT, type WhepAnswer } from '../test/live/whep-client.ts';
import { NO_JANUS } from '../test/rooms/janus.ts';
import { startJanusPlatform } from '../test/rooms/janus-platform.ts';
import { startPublisher } from '../test/rtmp/publisher.ts';

/** About two seconds of a recording. */
const PART_BYTES = 150_000;

test('an encoder takes a stream over from another process, and segment numbers continue', async (t) => {
  const processes = await startTwoProcesses();
  t.after(() => processes.close());
  const { id, key, encoder } = await processes.broadcast();
  await waitFor(async () => segmentsOf(await processes.playlist(id)).length > 1, { timeoutMs: 15_000 });
  const number = nextPart(await processes.playlist(id)).msn;
  assert.deepEqual(await processes.processesOf(id), [0]);
  processes.publish(key);
  await encoder.exited;
  assert.deepEqual(await processes.processesOf(id), [0, 1]);
  await waitFor(
    async () => {
      const playlist = await processes.playlist(id);
      const first = firstOf(playlist);
      return first >= number && first < number + 50 && segmentsOf(playlist).length > 1;
    },
    { timeoutMs: 15_000, intervalMs: 100, message: 'the playlist of the other process' },
  );
  const [file = ''] = segmentsOf(await processes.playlist(id));
  assert.equal((await fetch(`${processes.platform.url}/live/${id}/${file}`)).status, 200);
});

test('a simulated signal reaches the stream in its own process', async (t) => {
  const processes = await startTwoProcesses();
  t.after(() => processes.close());
  const { data } = await processes.partner.call('POST', '/me/api-keys', {
    name: 'test',
    scope: 'FULL_ACCESS',
    mode: 'test',
  });
  assert.ok(typeof data === 'object' && data !== null && 'key' in data);
  const partner = createPartner(processes.platform, String(data.key));
  const { id } = await partner.createStream();
  await partner.call('POST', `/streams/${id}/simulate-signal`, { on: true, seconds: 60 });
  await waitFor(async () => (await partner.stream(id)).hasSignal, { timeoutMs: 15_000 });
});

test('a broadcast of the second process plays by WHEP', { skip: NO_JANUS }, async (t) => {
  const janus = await startJanusPlatform('22900-22999', { MEDIA_PROCESSES: '2' });
  t.after(() => janus.close());
  const { partner, platform, browser } = janus;
  const begin = async () => {
    const { id, streamKey } = await partner.createStream();
    await partner.start(id);
    const url = `rtmp://127.0.0.1:${platform.rtmpPort}/live/${streamKey}`;
    const encoder = startPublisher({ url, width: 320, height: 180, fps: 15 });
    t.after(() => encoder.stop());
    await waitFor(async () => (await partner.stream(id)).hasSignal, { timeoutMs: 15_000 });
    return id;
  };
  await begin();
  const id = await begin();
  assert.ok(existsSync(join(platform.dataDir, 'nodes', '1', 'live', id)));
  const whepUrl = await waitFor(async () => Reflect.get(await partner.stream(id), 'whepUrl'));
  const { page } = await browser.open(`${platform.url}/api/v1/health`, { initScript: WHEP_CLIENT });
  await waitFor(async () => {
    const { status } = await page.evaluate<WhepAnswer>(`whep(${JSON.stringify(whepUrl)})`);
    return status === 201;
  });
  await waitFor(async () => (await page.evaluate<Received>('received()')).frames > 10, { timeoutMs: 20_000 });
});

test('the recording of a former process becomes a video when the number of processes is lowered', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'marquee-media-processes-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const dataDir = join(dir, 'data');
  const processes = await startTwoProcesses({}, dataDir);
  t.after(() => processes.close());
  // The first broadcast is in the first process, so the next one is in the other.
  await processes.broadcast();
  const { id } = await processes.broadcast('rtmp', { record: true });
  assert.deepEqual(await processes.processesOf(id), [1]);
  const folder = join(dataDir, 'nodes', '1', 'rec');
  await waitFor(() => bytesBelow(folder) > PART_BYTES, { timeoutMs: 15_000, message: 'a recording' });
  for (const pid of processes.pids()) process.kill(pid, 'SIGKILL');
  const ended = once(processes.platform.process, 'exit');
  processes.platform.process.kill('SIGKILL');
  await ended;
  const platform = await startPlatform({ dataDir, environment: { SIGNAL_GRACE_MS: '1000' } });
  t.after(() => platform.stop());
  const partner = createPartner(platform);
  await partner.stop(id);
  const { data } = await partner.call('GET', `/streams/${id}/sessions`);
  assert.ok(Array.isArray(data));
  const video = await partner.videoWhen(
    String(data[0]?.recordingVideoId),
    ({ status }) => status === 'READY',
  );
  assert.ok((video.durationSec ?? 0) >= 1, `${video.durationSec} s`);
  assert.equal(bytesBelow(folder), 0);
});

function bytesBelow(folder: string): number {
  if (!existsSync(folder)) return 0;
  const names = readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)));
  return names.reduce((sum, name) => sum + (statSync(name).isFile() ? statSync(name).size : 0), 0);
}
