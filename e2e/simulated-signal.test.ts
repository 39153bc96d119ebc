import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { headersOf, marquee, type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { startPublisher } from '../test/rtmp/publisher.ts';

let platform: RunningPlatform;
let key: string;

before(async () => {
  platform = await startPlatform({ environment: { LIVE_MAX_RUNGS: '0' } });
  const args = 'key create --account owner@marquee.localhost --scope STANDARD --mode test';
  key = String(Object(await marquee(platform, ...args.split(' '))).key);
});

after(() => platform?.stop());

async function call(method: string, path: string, body?: object) {
  const response = await fetch(`${platform.api}${path}`, {
    method,
    headers: headersOf(key),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { data, error } = Object(await response.json());
  return { status: response.status, data: Object(data), error };
}

async function createStream() {
  const { data } = await call('POST', '/streams', { title: 'Rehearsal' });
  const hasSignal = async () => (await call('GET', `/streams/${data.id}`)).data.hasSignal === true;
  return { id: String(data.id), streamKey: String(data.streamKey), hasSignal };
}

test('a test stream has a signal without an encoder, is watched, and loses it again', async () => {
  const { id, hasSignal } = await createStream();
  const on = await call('POST', `/streams/${id}/simulate-signal`, { on: true, seconds: 60 });
  assert.equal(on.status, 200, JSON.stringify(on.error));
  await waitFor(hasSignal, { timeoutMs: 15_000, message: 'the signal' });
  const picture = async () => fetch(String((await call('GET', `/streams/${id}`)).data.thumbnailUrl));
  await waitFor(async () => (await picture()).ok, { timeoutMs: 20_000, message: 'the first picture' });
  assert.equal((await fetch(`${platform.url}/live/${id}/thumbnail.jpg`)).status, 404, 'of the preview');
  const bytes = Buffer.from(await (await picture()).arrayBuffer());
  assert.deepEqual([...bytes.subarray(0, 2)], [0xff, 0xd8], 'a JPEG');
  await call('POST', `/streams/${id}/start`);
  assert.equal((await picture()).status, 404, 'what was before the broadcast is not shown');
  await waitFor(async () => (await picture()).ok, {
    timeoutMs: 15_000,
    message: 'a picture of the broadcast',
  });
  const master = `${platform.url}/live/${id}/master.m3u8`;
  await waitFor(async () => (await fetch(master)).ok, { timeoutMs: 15_000, message: 'the playlist' });
  await isWatched(id, master);
  await isMeasured(id);
  await call('POST', `/streams/${id}/simulate-signal`, { on: false });
  await waitFor(async () => !(await hasSignal()), { timeoutMs: 15_000, message: 'the end of the signal' });
  const { data } = await call('GET', '/me/events?limit=50');
  const types = [...Object.values(data)].map((event) => Object(event).type);
  for (const type of ['stream.live', 'stream.broadcast_started', 'stream.ended'])
    assert.ok(types.includes(type), type);
  assert.equal((await call('GET', `/streams/${id}/health`)).data.healthy, null);
});

/** Watches with one viewer whose player sends beacons, and one whose does not. */
async function isWatched(id: string, master: string) {
  const page = await (await fetch(`${platform.url}/embed/${id}`)).text();
  const session = / session="([^"]*)"/.exec(page)?.[1];
  const events = [{ type: 'PLAY', positionSec: 0, at: performance.timeOrigin + performance.now() }];
  const body = JSON.stringify({ session, n: 0, events });
  const told = await fetch(`${platform.url}/playback/beacon`, { method: 'POST', body });
  assert.equal(told.status, 204);
  const [path = ''] = (await (await fetch(master)).text()).split('\n').filter((line) => /^[^#]/.test(line));
  const ask = async (headers = {}) => (await fetch(new URL(path, master), { headers })).ok;
  const count = async () => (await call('GET', `/streams/${id}`)).data.viewerCount;
  await waitFor(async () => (await ask()) && (await ask({ 'user-agent': 'VLC' })) && (await count()) === 2, {
    timeoutMs: 15_000,
    intervalMs: 500,
    message: 'two viewers',
  });
  const { data } = await call('GET', `/streams/${id}/sessions`);
  const { peakViewers, uniqueViewers } = Object(data[0]);
  assert.deepEqual([peakViewers, uniqueViewers], [2, 2]);
}

async function isMeasured(id: string) {
  const { data } = await waitFor(
    async () => {
      const answer = await call('GET', `/streams/${id}/health`);
      return answer.data.points.length > 0 && answer.data.current?.keyframeIntervalSec ? answer : null;
    },
    { timeoutMs: 20_000, intervalMs: 500, message: 'a point of health' },
  );
  const { codec, keyframeIntervalSec, droppedFrames } = data.current;
  assert.match(codec, /^avc1\./);
  assert.deepEqual([Math.round(keyframeIntervalSec), droppedFrames], [2, 0]);
  assert.ok(data.points.at(-1).bitrateKbps > 0, JSON.stringify(data.points));
}

test('an encoder that takes over keeps the stream', async (t) => {
  const { id, streamKey, hasSignal } = await createStream();
  await call('POST', `/streams/${id}/simulate-signal`, { on: true, seconds: 60 });
  await waitFor(hasSignal, { timeoutMs: 15_000, message: 'the signal' });
  const encoder = startPublisher({
    url: `rtmp://127.0.0.1:${platform.rtmpPort}/live/${streamKey}`,
    width: 320,
    height: 180,
    fps: 15,
  });
  t.after(() => encoder.stop());
  const height = async () => (await call('GET', `/streams/${id}`)).data.health?.height;
  await waitFor(async () => (await height()) === 180, {
    timeoutMs: 30_000,
    message: 'the picture of the encoder',
  });
  // The simulator checks every second; if it took the stream back, the encoder's connection would end.
  const ended = encoder.exited.then(() => 'cut off');
  assert.equal(await Promise.race([ended, sleep(3000, 'left alone')]), 'left alone');
});
