import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectProcessMetrics, createMetrics } from './metrics.ts';
import { gatherMetrics, type MetricsSource, ownMetrics } from './metrics-gathering.ts';

/** A process with three requests that counts the jobs of all nodes. */
function processMetrics(name: string): MetricsSource {
  const metrics = createMetrics();
  collectProcessMetrics(metrics.registry);
  for (const seconds of [0.001, 0.002, 7.5]) metrics.observeRequest('streams.get', 'GET', 200, seconds);
  metrics.jobDepths([{ name: 'video.prepare', waiting: 4, active: 1 }]);
  return ownMetrics(name, metrics.registry);
}

/** Returns the values of a metric by its labels. */
function valuesOf(text: string, name: string): Record<string, number> {
  const lines = text.matchAll(new RegExp(`^marquee_${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'));
  return Object.fromEntries([...lines].map(([, labels = '', value]) => [labels, Number(value)]));
}

const COUNT = 'http_request_duration_seconds_count';
const LABELS = 'operation="streams.get",method="GET",status="200"';

test('counts of several processes are summed, and states of the whole platform are not', async () => {
  const gathering = gatherMetrics();
  for (const name of ['api-0', 'api-1']) gathering.add(processMetrics(name));
  const text = await gathering.metrics();
  assert.deepEqual(valuesOf(text, COUNT), { [LABELS]: 6 });
  const bucket = valuesOf(text, 'http_request_duration_seconds_bucket');
  assert.equal(bucket[`le="0.002",${LABELS}`], 4);
  assert.equal(bucket[`le="+Inf",${LABELS}`], 6);
  assert.equal(valuesOf(text, 'jobs')['queue="video.prepare",state="waiting"'], 4);
});

test('event loops and memory have the label `process`, and nothing else has it', async () => {
  const gathering = gatherMetrics();
  for (const name of ['api-0', 'worker-0']) gathering.add(processMetrics(name));
  const text = await gathering.metrics();
  for (const name of ['process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds']) {
    assert.deepEqual(Object.keys(valuesOf(text, name)), ['process="api-0"', 'process="worker-0"'], name);
  }
  assert.deepEqual(Object.keys(valuesOf(text, 'process_cpu_seconds_total')), ['']);
});

test('counts of an ended process remain, and its memory does not', async () => {
  const gathering = gatherMetrics();
  const [ended, running] = [processMetrics('api-0'), processMetrics('api-1')];
  gathering.add(ended);
  gathering.add(running);
  await gathering.metrics();
  gathering.remove(ended);
  const text = await gathering.metrics();
  assert.deepEqual(valuesOf(text, COUNT), { [LABELS]: 6 });
  assert.deepEqual(Object.keys(valuesOf(text, 'process_resident_memory_bytes')), ['process="api-1"']);
});

test('a process that does not respond is represented by its previous values', async () => {
  const gathering = gatherMetrics();
  const stalled = processMetrics('api-0');
  let isStalled = false;
  gathering.add({ ...stalled, refresh: () => (isStalled ? new Promise(() => {}) : stalled.refresh()) });
  gathering.add(processMetrics('api-1'));
  await gathering.metrics();
  isStalled = true;
  assert.deepEqual(valuesOf(await gathering.metrics(), COUNT), { [LABELS]: 6 });
});
