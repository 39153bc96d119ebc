import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { waitFor } from '../../../test/harness/wait-for.ts';
import type { MediaMessage } from '../contract/index.ts';
import { READ_BUDGETS } from '../read-budget.ts';
import type { PushError } from '../restream/failure.ts';
import { createPlayoutTrack, Playout } from './playout.ts';

const VIDEO = 9;
const AUDIO = 8;
const FRAME = Buffer.of(0x27, 1, 0, 0, 0);
const HEADER = Buffer.of(0x17, 0, 0, 0, 0, 1);
const AUDIO_FRAME = Buffer.of(0xaf, 1, 0);
const HOUR_MS = 3_600_000;

function start(t: TestContext, { aheadMs = 0, tracks = 1 } = {}) {
  const sent: MediaMessage[] = [];
  const failures: PushError[] = [];
  const playout = new Playout({
    ...{ aheadMs, tracks },
    out: (message) => sent.push(message),
    fail: (failure) => failures.push(failure),
  });
  t.after(() => playout.stop());
  const [lane, stretch] = [createPlayoutTrack(), { shift: null }];
  const tag = (type: number, timestamp: number, payload: Buffer) =>
    playout.tag(lane, stretch, { type, timestamp, payload });
  return {
    ...{ playout, lane, sent, failures, tag },
    video: (timestamp: number, payload = FRAME) => tag(VIDEO, timestamp, payload),
    audio: (timestamp: number, payload = AUDIO_FRAME) => tag(AUDIO, timestamp, payload),
  };
}

test('frames of two tracks are sent in the order of their times', async (t) => {
  const { playout, sent, audio, video } = start(t, { aheadMs: HOUR_MS, tracks: 2 });
  for (const ms of [0, 40, 80]) video(ms);
  for (const ms of [10, 30, 50]) audio(ms);
  playout.flush();
  assert.deepEqual(
    sent.map(({ timestamp }) => timestamp),
    [0, 10, 30, 40, 50, 80],
  );
});

test('a frame with an earlier timestamp in its track keeps its place, and one older than the head is dropped', (t) => {
  const { playout, sent, video } = start(t, { aheadMs: HOUR_MS });
  video(0);
  video(1000);
  playout.flush();
  for (const ms of [1990, 2040, 2010, 500, 2080]) video(ms, Buffer.concat([FRAME, Buffer.of(ms / 10)]));
  playout.flush();
  assert.deepEqual(
    sent.slice(2).map(({ timestamp, payload }) => [timestamp, payload[5]]),
    [
      [1990, 199],
      [2040, 204],
      [2040, 201],
      [2080, 208],
    ],
  );
});

test('a header is sent with the frame that follows it', (t) => {
  const { playout, sent, audio, video } = start(t, { aheadMs: HOUR_MS });
  audio(0);
  audio(500);
  for (let count = 0; count < 10_000; count += 1) video(0, HEADER);
  video(100);
  playout.flush();
  assert.deepEqual(
    sent.map(({ timestamp, payload }) => [timestamp, payload]),
    [
      [0, AUDIO_FRAME],
      [100, HEADER],
      [100, FRAME],
      [500, AUDIO_FRAME],
    ],
  );
});

/** Counts calls until the playout throws. @returns the number of calls. */
function countUntilFailure(push: (index: number) => void): { calls: number; error: unknown } {
  for (let calls = 0; calls < 10_000_000; calls += 1) {
    try {
      push(calls);
    } catch (error) {
      return { calls, error };
    }
  }
  return { calls: Number.POSITIVE_INFINITY, error: null };
}

test('a source that sends too many frames a second on one track fails, and the loop in hand ends', (t) => {
  const { failures, video, audio, playout } = start(t);
  const { calls, error } = countUntilFailure(() => video(0));
  assert.ok(calls <= READ_BUDGETS.playoutTrack.items + 1000, `${calls} frames`);
  assert.deepEqual(failures, [error]);
  assert.match(String(error), /more frames per second/);
  audio(0);
  playout.flush();
});

test('a queue is limited by bytes and by milliseconds', (t) => {
  const large = start(t);
  const payload = Buffer.concat([FRAME, Buffer.alloc(2 ** 20)]);
  const bytes = countUntilFailure((index) => large.video(index, payload));
  assert.ok(bytes.calls < 128, `${bytes.calls} frames of a megabyte`);
  assert.match(String(bytes.error), /more than can be buffered/);
  const long = start(t);
  const far = countUntilFailure((index) => long.video(index * 2500));
  assert.ok(far.calls <= READ_BUDGETS.playoutQueue.ms / 2500 + 1, `${far.calls} frames`);
  assert.match(String(far.error), /more than can be buffered/);
});

test('a track that begins far from the others fails, before and after the playout begins', (t) => {
  for (const tracks of [1, 3]) {
    const { audio, video, playout, failures } = start(t, { tracks });
    audio(0);
    playout.flush();
    assert.throws(() => video(2 ** 31), /more than can be buffered/);
    assert.equal(failures.length, 1);
  }
});

test('a queue is limited by items over all tracks', (t) => {
  const { tag, failures } = start(t);
  const types = [VIDEO, AUDIO];
  const { calls } = countUntilFailure((index) => {
    const type = types[index % types.length] ?? VIDEO;
    tag(type, index / 100, type === VIDEO ? FRAME : AUDIO_FRAME);
  });
  assert.ok(calls <= READ_BUDGETS.playoutQueue.items, `${calls} frames`);
  assert.equal(failures.length, 1);
});

test('a backlog is sent in slices, and other timers run between them', async (t) => {
  const { playout, sent, video, lane } = start(t, { aheadMs: HOUR_MS });
  for (let count = 0; count < 2000; count += 1) video(count / 10);
  const seen: number[] = [];
  const timer = setInterval(() => seen.push(sent.length), 1);
  t.after(() => clearInterval(timer));
  playout.flush();
  assert.ok(sent.length < 1000, `${sent.length} frames in one turn`);
  await waitFor(() => sent.length === 2000);
  assert.ok(new Set(seen).size > 3, 'timers ran between slices');
  assert.equal(playout.heldOf(lane), 0);
});
