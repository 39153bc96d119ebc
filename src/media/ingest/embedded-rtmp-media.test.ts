import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { openFlv } from '../../../test/rtmp/flv-reader.ts';
import { openPublisher, sendHeaders, startIngest } from '../../../test/rtmp/ingest.ts';
import {
  AAC_48K_STEREO,
  AVC_360P30,
  AVC_1080P60,
  audioFrame,
  videoFrame,
  videoHeader,
} from '../../../test/rtmp/media.ts';
import { systemClock } from '../../kernel/clock.ts';

test('a new sequence header within the publish is reported, a repeated one is not', async (t) => {
  const ingest = await startIngest(t);
  const client = await openPublisher(t, ingest.port, 'key-a');
  client.media('video', 0, videoHeader(AVC_360P30));
  client.media('video', 0, videoFrame(true));
  client.media('video', 40, videoHeader(AVC_360P30));
  client.media('video', 40, videoFrame(true));
  client.media('video', 80, videoHeader(AVC_1080P60));
  client.media('video', 80, videoFrame(true));
  await waitFor(() => ingest.sessions('media').length === 2);
  assert.deepEqual(
    ingest.sessions('media').map((session) => session.video?.width),
    [640, 1920],
  );
});

test('a header that changes with each frame is reported a few times, the last one included', async (t) => {
  const ingest = await startIngest(t);
  const client = await openPublisher(t, ingest.port, 'key-a');
  for (let at = 0; at < 500; at += 1) {
    client.media('video', at, videoHeader(at % 2 === 0 ? AVC_1080P60 : AVC_360P30));
    client.media('video', at, videoFrame(true));
  }
  await waitFor(() => {
    client.media('video', 500, videoFrame(true));
    return ingest.sessions('media').length > 10 && ingest.sessions('media').at(-1)?.video?.width === 640;
  });
  assert.ok(ingest.sessions('media').length < 20, `told ${ingest.sessions('media').length} times`);
});

test('the frame rate is measured when the encoder does not send the one it announces', async (t) => {
  const ingest = await startIngest(t);
  const client = await openPublisher(t, ingest.port, 'key-a');
  client.media('video', 0, videoHeader(AVC_360P30));
  for (let at = 0; at <= 2200; at += 20) client.media('video', at, videoFrame(at % 1000 === 0));
  await waitFor(() => ingest.sessions('media').length === 2);
  assert.deepEqual(
    ingest.sessions('media').map((session) => session.video?.fps),
    [30, 50],
  );
});

test('figures: bytes on the wire, keyframe interval, last media', async (t) => {
  const ingest = await startIngest(t);
  const client = await openPublisher(t, ingest.port, 'key-a');
  const sessionId = ingest.sessions('start')[0]?.sessionId ?? '';
  assert.equal(ingest.engine.stats(sessionId)?.keyframeIntervalMs, null);
  const before = systemClock.ms();
  // Chunks of 128 bytes: a header of 12 bytes, and seven of one byte.
  const wireBytes = 1000 + 12 + 7;
  for (const at of [0, 500, 1000, 3000]) client.media('video', at, videoFrame(at !== 500, 1000));
  await waitFor(() => ingest.engine.stats(sessionId)?.bytes === 4 * wireBytes);
  const stats = ingest.engine.stats(sessionId);
  assert.equal(stats?.keyframeIntervalMs, 2000);
  client.media('video', 2500, videoFrame(true, 1000));
  await waitFor(() => ingest.engine.stats(sessionId)?.bytes === 5 * wireBytes);
  assert.equal(ingest.engine.stats(sessionId)?.keyframeIntervalMs, 2000, 'a little back');
  assert.ok((stats?.lastMediaAtMs ?? 0) >= before);
  assert.equal(ingest.engine.stats('ing_unknown'), null);
});

test('timestamp jumps, and audio and video out of sync, are reported as issues', async (t) => {
  const ingest = await startIngest(t);
  const issuesOf = (session?: { sessionId: string }) =>
    ingest.engine.stats(session?.sessionId ?? '')?.issues ?? [];
  const jumpy = await openPublisher(t, ingest.port, 'key-a');
  sendHeaders(jumpy);
  for (const at of [0, 40, 80, 90_000, 90_040]) jumpy.media('video', at, videoFrame(at === 0));
  await waitFor(() => issuesOf(ingest.sessions('start')[0]).includes('TIMESTAMP_JUMP'));
  const apart = await openPublisher(t, ingest.port, 'key-b');
  sendHeaders(apart);
  let at = 0;
  await waitFor(
    () => {
      apart.media('video', at, videoFrame(at === 0));
      apart.media('audio', at + 1500, audioFrame());
      at += 40;
      return issuesOf(ingest.sessions('start')[1]).includes('AV_DRIFT');
    },
    { intervalMs: 40 },
  );
  assert.ok(!issuesOf(ingest.sessions('start')[1]).includes('TIMESTAMP_JUMP'));
});

test('readers: an unknown session is at its end, a known one ends cleanly with the publish', async (t) => {
  const ingest = await startIngest(t);
  const client = await openPublisher(t, ingest.port, 'key-a');
  const [session] = ingest.sessions('start');
  assert.ok(session);
  const missing = openFlv(ingest.engine, { ...session, sessionId: 'ing_none' });
  assert.equal(await missing.ended, true);
  assert.equal(missing.flags(), null);
  const early = openFlv(ingest.engine, session);
  sendHeaders(client);
  client.media('video', 0, videoFrame(true, 700));
  client.media('video', 40, videoFrame(false, 300));
  await waitFor(() => early.tags().length === 4);
  const late = openFlv(ingest.engine, session);
  await waitFor(() => late.tags().length === 4);
  client.command(1, 'deleteStream', 6, [null, 1]);
  assert.deepEqual(await Promise.all([early.ended, late.ended]), [true, true]);
  for (const reader of [early, late]) {
    assert.equal(reader.flags(), 5);
    assert.deepEqual(
      reader.tags().map((tag) => [tag.type, tag.timestamp, tag.payload.length]),
      [
        [9, 0, 5 + AVC_360P30.length / 2],
        [8, 0, 2 + AAC_48K_STEREO.length / 2],
        [9, 0, 700],
        [9, 40, 300],
      ],
    );
  }
});

test('timestamps above 24 and 31 bits reach the reader unchanged', async (t) => {
  const ingest = await startIngest(t);
  const client = await openPublisher(t, ingest.port, 'key-a');
  const [session] = ingest.sessions('start');
  assert.ok(session);
  const reader = openFlv(ingest.engine, session);
  const times = [0xfffffe, 0xffffff, 0x1000000, 0x7fffffff, 0x80000000, 0xfffffff0];
  client.media('video', 0xfffff0, videoHeader(AVC_360P30));
  for (const at of times) client.media('video', at, videoFrame(true, 500));
  await waitFor(() => reader.tags().length === times.length + 1);
  assert.deepEqual(
    reader.tags().map((tag) => tag.timestamp),
    [0xfffff0, ...times],
  );
});

test('a reader that dies disturbs neither the publish nor the other readers', async (t) => {
  const ingest = await startIngest(t);
  const client = await openPublisher(t, ingest.port, 'key-a');
  const [session] = ingest.sessions('start');
  assert.ok(session);
  sendHeaders(client);
  client.media('video', 0, videoFrame(true));
  await waitFor(() => ingest.sessions('media').length === 1);
  const dying = openFlv(ingest.engine, session);
  const other = openFlv(ingest.engine, session);
  dying.destroy();
  for (let at = 40; at <= 4000; at += 40) client.media('video', at, videoFrame(false, 20_000));
  await waitFor(() => other.tags().at(-1)?.timestamp === 4000);
  assert.deepEqual(ingest.ends(), []);
});

test('nor does one that throws', async (t) => {
  const ingest = await startIngest(t);
  const client = await openPublisher(t, ingest.port, 'key-a');
  const [session] = ingest.sessions('start');
  assert.ok(session);
  sendHeaders(client);
  client.media('video', 0, videoFrame(true));
  await waitFor(() => ingest.sessions('media').length === 1);
  const faulty = new Writable({
    write() {
      throw new RangeError('no port');
    },
  });
  ingest.engine.feed(session, faulty);
  const other = openFlv(ingest.engine, session);
  for (let at = 40; at <= 400; at += 40) client.media('video', at, videoFrame(false));
  await waitFor(() => other.tags().at(-1)?.timestamp === 400);
  assert.equal(faulty.destroyed, true);
  assert.deepEqual(ingest.ends(), []);
});

/** An AVC frame of one unit. */
function frameOf(keyframe: boolean, ...units: Buffer[]): Buffer {
  const parts = units.flatMap((unit) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(unit.length);
    return [length, unit];
  });
  return Buffer.concat([Buffer.of(keyframe ? 0x17 : 0x27, 1, 0, 0, 0), ...parts]);
}

const IDR = Buffer.from('65aabb', 'hex');
const SLICE = Buffer.from('41aabb', 'hex');

test('a frame larger than the header announced ends the publish after its reason', async (t) => {
  const ingest = await startIngest(t);
  const client = await openPublisher(t, ingest.port, 'key-a');
  const record = Buffer.from(AVC_1080P60, 'hex');
  const sps = record.subarray(8, 8 + record.readUInt16BE(6));
  client.media('video', 0, videoHeader(AVC_360P30));
  client.media('video', 0, frameOf(true, IDR));
  client.media('video', 40, frameOf(false, sps, SLICE));
  await waitFor(() => ingest.ends().length === 1);
  assert.equal(ingest.ends()[0]?.reason, 'kicked');
  const told = ingest.calls.flatMap((call) => (call.hook === 'refused' ? [call.issue] : []));
  assert.deepEqual(told, ['RESOLUTION_CHANGED']);
});

test('keyframes that are not access points are reported', async (t) => {
  const ingest = await startIngest(t);
  const client = await openPublisher(t, ingest.port, 'key-a');
  client.media('video', 0, videoHeader(AVC_360P30));
  client.media('video', 0, frameOf(true, IDR));
  client.media('video', 2000, frameOf(true, SLICE));
  await waitFor(() => ingest.sessions('media').length === 2);
  assert.equal(ingest.sessions('media')[0]?.video?.lacksKeyframes, undefined);
  assert.equal(ingest.sessions('media')[1]?.video?.lacksKeyframes, true);
});
