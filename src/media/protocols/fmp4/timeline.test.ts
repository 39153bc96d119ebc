import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Timeline } from './timeline.ts';

test('timeline: after a jump of the encoder, times advance with the clock and both tracks stay in sync', () => {
  const line = new Timeline();
  assert.equal(line.place('video', 5000, 0), 0);
  assert.equal(line.place('audio', 5010, 0), 10);
  assert.equal(line.place('video', 5033, 33), 33);
  assert.equal(line.place('video', 90_000, 66), 66);
  assert.equal(line.place('audio', 90_010, 70), 76);
  // A pause of the camera is one of the line.
  assert.equal(line.place('video', 98_000, 8066), 8066);
  assert.equal(line.place('video', 97_990, 8099), 8067);
});

test('timeline: a clock that runs away leads by a limited number of seconds', () => {
  const steps: ((frame: number) => number)[] = [
    (frame) => frame * 3000,
    // Back and forth, so that each step is a jump of one track to where the other is.
    (frame) => (frame % 2 === 0 ? frame * 1500 : 2 ** 31 + frame),
    () => 7,
  ];
  for (const timestampOf of steps) {
    const line = new Timeline();
    let before = 0;
    for (let frame = 0; frame < 40_000; frame += 1) {
      const nowMs = frame / 20;
      const placed = line.place('video', timestampOf(frame), nowMs);
      line.place('audio', frame * 3000, nowMs);
      assert.ok(placed >= before, `${placed} after ${before}`);
      before = placed;
    }
    assert.ok(before < 2000 * 1.1 + 40_001, `${before} in 2 s`);
  }
  const line = new Timeline();
  for (let frame = 0; frame < 100; frame += 1) line.place('video', frame * 3000, 0);
  const placed = [1, 2].map((frame) => line.place('video', 297_000 + frame * 33, frame * 33));
  assert.deepEqual(placed, [40_033, 40_066], 'it goes on in step');
});

test('timeline: delayed media and an initial burst keep their times', () => {
  const line = new Timeline();
  // A pull bridge delivers a burst of ten seconds.
  for (let at = 0; at < 10_000; at += 40) assert.equal(line.place('video', at, 0), at);
  let nowMs = 0;
  for (let round = 1; round <= 50; round += 1) {
    // Nothing for ten seconds, then all of it.
    nowMs += 10_000;
    for (let at = round * 10_000; at < (round + 1) * 10_000; at += 40)
      assert.equal(line.place('video', at, nowMs), at);
  }
});

test('timeline: an encoder whose clock is some percent faster is followed', () => {
  const line = new Timeline();
  for (let at = 0; at < 3_600_000; at += 100) assert.equal(line.place('video', at, at / 1.05), at);
});
