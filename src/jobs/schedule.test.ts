import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../platform/logger.ts';
import { startSchedule } from './schedule.ts';

test('first runs are one after the other, one that hangs holds up none, and a stop waits for it', async () => {
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
