import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from './metrics.ts';

test('the metrics have the event-loop delay of the media process in seconds', async () => {
  const metrics = createMetrics();
  metrics.media({
    ...{ publishers: 1, bitrateKbps: 6000, residentBytes: 1, served: {} },
    eventLoopDelay: { p99Ms: 12, maxMs: 250 },
  });
  const text = await metrics.registry.metrics();
  assert.match(text, /^marquee_media_eventloop_delay_p99_seconds 0\.012$/m);
  assert.match(text, /^marquee_media_eventloop_delay_max_seconds 0\.25$/m);
});

test('request durations are counted by operation, method and status', async () => {
  const { registry, observeRequest } = createMetrics();
  for (const seconds of [0.001, 0.002, 7.5]) observeRequest('streams.get', 'GET', 200, seconds);
  observeRequest('streams.get', 'GET', 404, 0.0021);
  const lines = (await registry.metrics()).split('\n');
  const name = 'marquee_http_request_duration_seconds';
  const labels = 'operation="streams.get",method="GET"';
  for (const line of [
    `${name}_bucket{le="0.002",${labels},status="200"} 2`,
    `${name}_bucket{le="5",${labels},status="200"} 2`,
    `${name}_bucket{le="+Inf",${labels},status="200"} 3`,
    `${name}_count{${labels},status="200"} 3`,
    `${name}_bucket{le="0.005",${labels},status="404"} 1`,
  ]) {
    assert.ok(lines.includes(line), line);
  }
});
