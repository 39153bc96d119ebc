import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TimingWatch } from './timing.ts';

const STEP_MS = 40;

/** Creates an encoder with 25 video frames and as many audio packets a second. */
function encoder() {
  const watch = new TimingWatch();
  let nowMs = 5000;
  let timestamp = 0;
  const send = (seconds: number, { takesMs = STEP_MS, audioAheadMs = 0 } = {}) => {
    let jumps = 0;
    for (let sent = 0; sent < seconds * 1000; sent += STEP_MS) {
      if (watch.frame('video', timestamp >>> 0, nowMs)) jumps++;
      if (watch.frame('audio', (timestamp + audioAheadMs) >>> 0, nowMs)) jumps++;
      timestamp += STEP_MS;
      nowMs += takesMs;
    }
    return jumps;
  };
  return {
    send,
    /** Delays delivery; media encoded in that time arrives later. */
    wait: (ms: number) => {
      nowMs += ms;
    },
    /** The encoder drops media. */
    skip: (ms: number) => {
      timestamp += ms;
    },
    read: () => watch.read(nowMs),
    issues: () => watch.read(nowMs).issues,
  };
}

describe('what the times of frames tell', () => {
  test('a steady signal has no issues, also across the 32-bit wraparound and with a fixed offset of its tracks', () => {
    const steady = encoder();
    steady.skip(2 ** 32 - 10_000);
    assert.equal(steady.send(20, { audioAheadMs: 300 }), 0);
    const { mediaMs, avDriftMs, ...counts } = steady.read();
    assert.deepEqual(counts, { droppedFrames: 0, lateFrames: 0, issues: [] });
    assert.equal(mediaMs, 20_000 - STEP_MS);
    assert.ok(avDriftMs !== null && Math.abs(avDriftMs - 290) < 40, `${avDriftMs}`);
  });

  test('a publisher that stalls and catches up: late frames, an unsteady bitrate, and well again', () => {
    const slow = encoder();
    slow.send(10);
    slow.wait(4000);
    assert.deepEqual(slow.issues(), ['BITRATE_UNSTABLE'], 'while nothing comes');
    slow.send(4, { takesMs: 2 });
    const { lateFrames, droppedFrames, issues } = slow.read();
    assert.ok(lateFrames > 50 && lateFrames <= 100, `${lateFrames} late`);
    assert.equal(droppedFrames, 0);
    assert.deepEqual(issues, ['BITRATE_UNSTABLE']);
    slow.send(31);
    assert.deepEqual(slow.issues(), []);
    assert.equal(slow.read().lateFrames, lateFrames, 'of the connection');
  });

  test('frames compressed in time at the start cause no gaps after them', () => {
    const pressed = encoder();
    for (let frame = 0; frame < 40; frame++) {
      pressed.send(STEP_MS / 1000, { takesMs: 1 });
      pressed.skip(1 - STEP_MS);
    }
    pressed.send(10);
    assert.deepEqual([pressed.read().droppedFrames, pressed.issues()], [0, []]);
  });

  test('frames that are missing are dropped ones; a few are no issue', () => {
    const lossy = encoder();
    lossy.send(10);
    lossy.skip(3 * STEP_MS);
    lossy.wait(3 * STEP_MS);
    lossy.send(2);
    assert.equal(lossy.read().droppedFrames, 3);
    assert.deepEqual(lossy.issues(), []);
    for (let round = 0; round < 10; round++) {
      lossy.skip(5 * STEP_MS);
      lossy.wait(5 * STEP_MS);
      lossy.send(1);
    }
    assert.equal(lossy.read().droppedFrames, 53);
    assert.deepEqual(lossy.issues(), ['FRAMES_DROPPED']);
  });

  for (const [name, ms] of [
    ['back', -20_000],
    ['ahead', 20_000],
  ] as const) {
    test(`timestamps that jump ${name} are reported for a minute, and have no other effect`, () => {
      const jumpy = encoder();
      jumpy.send(25);
      jumpy.skip(ms);
      assert.equal(jumpy.send(1), 2, 'one of each track');
      jumpy.send(9);
      const { mediaMs, droppedFrames, lateFrames, issues } = jumpy.read();
      assert.deepEqual(
        { droppedFrames, lateFrames, issues },
        { droppedFrames: 0, lateFrames: 0, issues: ['TIMESTAMP_JUMP'] },
      );
      assert.ok(Math.abs(mediaMs - 35_000) < 100, `${mediaMs}`);
      jumpy.send(60);
      assert.deepEqual(jumpy.issues(), []);
    });
  }

  test('audio and video out of sync are reported as drift', () => {
    const drifting = encoder();
    for (let ahead = 0; ahead <= 600; ahead += 20) drifting.send(1, { audioAheadMs: ahead });
    assert.deepEqual(drifting.issues(), ['AV_DRIFT'], 'slowly');
    const apart = encoder();
    apart.send(10, { audioAheadMs: -1500 });
    assert.deepEqual(apart.issues(), ['AV_DRIFT'], 'from the beginning');
    assert.ok((apart.read().avDriftMs ?? 0) < -1400);
  });

  test('a single track has no drift', () => {
    const watch = new TimingWatch();
    for (let at = 0; at < 10_000; at += 20) watch.frame('audio', at, at);
    const { avDriftMs, mediaMs, issues } = watch.read(10_000);
    assert.deepEqual([avDriftMs, mediaMs, issues], [null, 9980, []]);
  });
});
