import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Histogram, Registry } from 'prom-client';
import { createMetrics } from './metrics.ts';

const NAME = 'marquee_http_request_duration_seconds';
const OBSERVED: [operation: string, method: string, status: number, seconds: number][] = [
  ['streams.get', 'GET', 200, 0.001],
  ['streams.get', 'GET', 200, 0.002],
  ['streams.get', 'GET', 404, 0.0021],
  ['streams.get', 'HEAD', 200, 0.3],
  ['videos.list', 'GET', 200, 5],
  ['streams.get', 'GET', 200, 7.5],
  ['other', 'BREW', 405, 0],
];

test('durations of requests are told as by the histogram of the library', async () => {
  const { registry, observeRequest } = createMetrics();
  const plain = new Histogram({
    name: NAME,
    help: 'Request durations by operation.',
    labelNames: ['operation', 'method', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [new Registry()],
  });
  for (const [operation, method, status, seconds] of OBSERVED) {
    observeRequest(operation, method, status, seconds);
    plain.observe({ operation, method, status }, seconds);
  }
  const expected = new Registry();
  expected.registerMetric(plain);
  const lines = async (of: Registry) => (await of.getSingleMetricAsString(NAME)).split('\n').sort();
  assert.deepEqual(await lines(registry), await lines(expected));
  assert.ok(
    (await registry.metrics()).includes(`${NAME}_count{operation="streams.get",method="GET",status="200"} 3`),
  );
});
