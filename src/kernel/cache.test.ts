import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsOwnProcess } from '../../test/harness/needs.ts';
import { createIdleCache } from './cache.ts';

needsOwnProcess();

const limits = { idleTtlMs: 1000, sizeOf: (value: number[]) => value.length, maxTotalSize: 5 };

test('an idle cache removes values that are not used', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const of = createIdleCache<number[]>(() => [], limits);
  of('a').push(1);
  of('b').push(1);
  for (let round = 0; round < 3; round += 1) {
    t.mock.timers.tick(1000);
    assert.deepEqual(of('a'), [1]);
  }
  assert.deepEqual(of('b'), []);
  t.mock.timers.tick(2000);
  assert.deepEqual(of('a'), []);
  of('a').push(2);
  t.mock.timers.tick(2000);
  assert.deepEqual(of('a'), [], 'it sweeps again after it was empty');
});

test('an idle cache beyond its size removes the least recently used values', () => {
  const of = createIdleCache<number[]>(() => [], limits);
  of('a').push(1, 1);
  of('b').push(1, 1);
  of('c').push(1, 1, 1);
  of('a');
  of('d');
  assert.deepEqual([of('a').length, of('c').length, of('b').length], [2, 3, 0]);
});
