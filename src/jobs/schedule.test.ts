import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../platform/logger.ts';
import { startSchedule } from './schedule.ts';

test('runs are sequential, a hanging run delays no other one, and stop waits for it', async () => {
  const order: string[] = [];
  const hanging = Promise.withResolvers<void>();
  const all = Promise.withResolvers<void>();
  const task = (name: string, run: () => Promise<unknown>) => ({
    name,
    everyMs: 60_000,
    async run() {
      order.push(`${name} begins`);
      await run();
      order.push(`${name} ends`);
    },
  });
  const schedule = startSchedule(
    [
      task('quick', () => new Promise((resolve) => setImmediate(resolve))),
      task('hanging', () => hanging.promise),
      task('last', async () => all.resolve()),
    ],
    createLogger('silent'),
  );
  await all.promise;
  const stopped = schedule.stop().then(() => order.push('stopped'));
  hanging.resolve();
  await stopped;
  assert.deepEqual(order, [
    ...['quick begins', 'quick ends', 'hanging begins', 'last begins', 'last ends', 'hanging ends'],
    'stopped',
  ]);
});

test('repeated runs of several tasks are sequential', async () => {
  let runningCount = 0;
  const counts: number[] = [];
  const enough = Promise.withResolvers<void>();
  const task = (name: string) => ({
    name,
    everyMs: 1,
    async run() {
      runningCount += 1;
      counts.push(runningCount);
      await new Promise((resolve) => setImmediate(resolve));
      runningCount -= 1;
      if (counts.length === 60) enough.resolve();
    },
  });
  const schedule = startSchedule(['one', 'two', 'three'].map(task), createLogger('silent'));
  await enough.promise;
  await schedule.stop();
  assert.ok(counts.every((count) => count === 1));
  assert.equal(runningCount, 0);
});
