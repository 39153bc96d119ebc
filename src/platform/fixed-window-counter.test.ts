import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFixedWindowCounter } from './fixed-window-counter.ts';

test('ever new keys cost no more than the ceiling; the window that opened first is forgotten', async () => {
  const windows = createFixedWindowCounter(() => 60_000, { maxKeys: 100 });
  for (let i = 0; i < 10_000; i++) await windows.hit(`key ${i}`);
  assert.equal(windows.size, 100);
  assert.equal((await windows.peek('key 9900')).count, 1);
  assert.equal((await windows.peek('key 9899')).count, 0);
});

test('a clock set back does not extend a window', async () => {
  let now = 1_000_000;
  const windows = createFixedWindowCounter(() => 1000, { nowMs: () => now });
  await windows.hit('a');
  now -= 500_000;
  assert.deepEqual(await windows.hit('a'), { count: 1, resetInMs: 1000 });
  assert.deepEqual(await windows.hit('a'), { count: 2, resetInMs: 1000 });
});

test('ended windows are evicted before any open one', async () => {
  let now = 0;
  const windows = createFixedWindowCounter(() => 1000, { maxKeys: 3, nowMs: () => now });
  await windows.hit('old');
  now = 999;
  for (const key of ['a', 'b', 'a']) await windows.hit(key);
  now = 1000;
  await windows.hit('c');
  assert.equal(windows.size, 3);
  assert.equal((await windows.peek('a')).count, 2);
  assert.equal((await windows.hit('old')).count, 1, 'its window was over');
});
