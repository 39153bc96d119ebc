import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decoderThreads, h264Threads } from './threads.ts';

test('a run has more threads than cores, so that no core waits for a frame', () => {
  assert.deepEqual([1, 2, 4].map(decoderThreads), [1, 3, 5]);
  assert.deepEqual(
    [1, 2, 3, 4, 8].map((cores) => h264Threads(cores, 1080)),
    [1, 3, 4, 6, 12],
  );
});

test('low resolutions use no more threads than they have rows for', () => {
  assert.equal(h264Threads(64, 2160), 67);
  assert.equal(h264Threads(64, 240), 7);
  assert.equal(h264Threads(64, 16), 1);
});
