import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keptWhileUsed } from './kept-while-used.ts';

const limits = { unusedMs: 1000, sizeOf: (value: number[]) => value.length, most: 5 };

test('what is asked for stays, and what is not goes', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const of = keptWhileUsed<number[]>(() => [], limits);
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
  assert.deepEqual(of('a'), [], 'it goes on after nothing was held');
});

test('beyond the size of all what was asked for longest ago goes', () => {
  const of = keptWhileUsed<number[]>(() => [], limits);
  of('a').push(1, 1);
  of('b').push(1, 1);
  of('c').push(1, 1, 1);
  of('a');
  of('d');
  assert.deepEqual([of('a').length, of('c').length, of('b').length], [2, 3, 0]);
});
