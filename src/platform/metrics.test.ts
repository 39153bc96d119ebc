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
