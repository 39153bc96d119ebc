import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MediaGaugesSum } from './gauges.ts';

const gauges = (publishers: number, delayMs: number, parts: number) => ({
  publishers,
  bitrateKbps: publishers * 1000,
  residentBytes: 100,
  eventLoopDelay: { p99Ms: delayMs, maxMs: 2 * delayMs },
  served: { part: parts },
});

test('the gauges of media processes are added, except that the longest event-loop delay counts', () => {
  const sum = new MediaGaugesSum();
  sum.set(0, gauges(2, 5, 10));
  sum.set(1, gauges(3, 50, 20));
  assert.deepEqual(sum.total(), {
    publishers: 5,
    bitrateKbps: 5000,
    residentBytes: 200,
    eventLoopDelay: { p99Ms: 50, maxMs: 100 },
    served: { part: 30 },
  });
});

test('requests that an ended process has served remain counted', () => {
  const sum = new MediaGaugesSum();
  sum.set(0, gauges(1, 1, 10));
  sum.set(1, gauges(1, 1, 20));
  sum.delete(1);
  assert.deepEqual([sum.total().publishers, sum.total().served], [1, { part: 30 }]);
  sum.set(1, gauges(0, 1, 2));
  assert.deepEqual(sum.total().served, { part: 32 });
});
