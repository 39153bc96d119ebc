import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourceInfo } from '../../../test/transcode/sources.ts';
import { applyPerTitle, type Sample, withKeyframes } from './per-title.ts';
import { planLadder } from './plan.ts';

const ladder = planLadder(sourceInfo({ width: 1920, height: 1080 }), 1080, ['HEVC']);
/** Builds a sample of 18 seconds at 480 lines. */
const sample = (kbps: { far: number; near: number }): Sample => ({
  ...{ pixels: 854 * 480, frameRate: 30, sec: 18 },
  far: (kbps.far * 1000 * 18) / 8,
  near: (kbps.near * 1000 * 18) / 8,
  small: (kbps.far * 1000 * 18) / 8 / 3,
});
const names = ({ rungs }: { rungs: readonly { name: string }[] }) => rungs.map(({ name }) => name);

test('by title: content that is hard to encode keeps its ladder', () => {
  const made = applyPerTitle(ladder, sample({ far: 1200, near: 1250 }), []);
  assert.deepEqual([names(made), made.keyframeSec], [names(ladder), 2]);
  assert.deepEqual(made.further, ladder.further);
});

test('by title: the keyframe interval is longer when that saves a tenth', () => {
  assert.equal(applyPerTitle(ladder, sample({ far: 1000, near: 1100 }), []).keyframeSec, 2);
  assert.equal(applyPerTitle(ladder, sample({ far: 1000, near: 1120 }), []).keyframeSec, 6);
});

test('by title: rungs below the one that every viewer can load are dropped in all codecs', () => {
  const made = applyPerTitle(ladder, sample({ far: 100, near: 200 }), []);
  assert.deepEqual(names(made), ['1080p', '720p']);
  assert.deepEqual(
    made.further.map(({ name }) => name),
    ['1080p-hevc', '720p-hevc'],
  );
  const lower = applyPerTitle(ladder, sample({ far: 240, near: 300 }), []);
  assert.deepEqual(names(lower), ['1080p', '720p', '480p']);
});

test('by title: existing rungs stay in the ladder', () => {
  const made = applyPerTitle(ladder, sample({ far: 100, near: 200 }), ['240p']);
  assert.deepEqual(names(made), ['1080p', '720p', '240p']);
});

test('by title: additional keyframes cost as much as the existing ones', () => {
  const group = [1000, ...Array.from({ length: 11 }, () => 100)];
  // At two frames per second, twelve are a group of six seconds; two of the others would become keyframes.
  assert.equal(withKeyframes([...group, ...group], 2), 2 * (2100 + 2 * 900));
  assert.equal(withKeyframes([], 2), 0);
});
