import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '../../test/harness/wait-for.ts';
import { startEventLoopWatchdog } from './event-loop-watchdog.ts';
import { timeRead } from './longest-read.ts';

const FIELDS = ['delayMs', 'readMs', 'reader'];

test('a delayed event loop is measured, and logged with the publish that was being read', async (t) => {
  const logged: object[] = [];
  const watchdog = startEventLoopWatchdog({ warn: (fields: object) => void logged.push(fields) });
  t.after(() => watchdog.stop());
  // Repeated, because the histogram measures only after its first tick.
  await waitFor(
    async () => {
      timeRead(
        () => 'publish ing_other',
        () => {},
      );
      timeRead(
        () => 'publish ing_1 of str_1',
        () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300),
      );
      await delay(50);
      const { maxMs, p99Ms } = watchdog.report();
      return maxMs >= 250 && p99Ms <= maxMs;
    },
    { message: 'the delay is measured' },
  );
  const [first = {}] = logged;
  assert.equal(logged.length, 1);
  assert.deepEqual(Object.keys(first).sort(), FIELDS);
  assert.equal('reader' in first && first.reader, 'publish ing_1 of str_1');
  watchdog.report();
  assert.equal(logged.length, 1, 'each delay is logged once');
});
