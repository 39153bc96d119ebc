import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Cluster, startCluster } from '../test/cluster/cluster.ts';
import { hasHaproxy, NO_HAPROXY } from '../test/cluster/haproxy.ts';
import { type Load, startLoad } from '../test/cluster/load.ts';
import { costTable, resultLines } from '../test/cluster/table.ts';
import { type Cost, type DrainCost, runDrain, runTrial, type Trial } from '../test/cluster/trials.ts';
import { type HttpsSink, startHttpsSink } from '../test/harness/https-sink.ts';
import { redisProgram } from '../test/harness/redis.ts';
import { hasS3 } from '../test/harness/s3.ts';

/** The kills of `npm run cluster -- --kills`, with bounds (docs/guides/operations.md#try-a-cluster). */
const skip = hasHaproxy() ? false : NO_HAPROXY;

const DATABASE_SECONDS = 60;
const NODE_SECONDS = 5;
const MAX_SILENCE_MS = 4000;
/** Includes the start of a node on the same machine; encoders of a media node reconnect to the other one. */
const MAX_NODE_SILENCE_MS = 8000;
const MAX_UNAVAILABLE_MS = 100;
/** Requests that are open when the server freezes wait for DATABASE_DEADLINE_MS. */
const MAX_DEADLINE_MS = 6000;
/** Share of later responses, which a busy machine delays. */
const MAX_SLOW_SHARE = 0.01;
const MAX_READY_MS = 2000;
/** Requests that were open when their node was killed. */
const MAX_INTERRUPTED = 10;

let sink: HttpsSink;
let cluster: Cluster;
let load: Load;
const costs: Cost[] = [];
let drain: DrainCost | null = null;

before(async () => {
  if (skip !== false) return;
  sink = await startHttpsSink();
  cluster = await startCluster({
    environment: { WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8', NODE_EXTRA_CA_CERTS: sink.ca.file },
  });
  load = await startLoad(cluster, sink);
});
after(async () => {
  await load?.stop();
  await cluster?.close();
  await sink?.close();
});

async function costOf(name: string, how: Trial['how'], seconds: number): Promise<Cost> {
  const part = cluster.parts.get(name);
  assert.ok(part !== undefined, name);
  const cost = await runTrial(cluster, load, { part, how, seconds });
  costs.push(cost);
  assert.deepEqual(cost.restarted, [], costTable([cost]));
  return cost;
}

/** Asserts that all failures have one of these outcomes, and returns their number. */
function countFailures(failures: Cost['failures'], allowed: readonly unknown[], cost: Cost): number {
  const others = [...failures.keys()].filter((outcome) => !allowed.includes(outcome));
  assert.deepEqual(others, [], costTable([cost]));
  return [...failures.values()].reduce((sum, count) => sum + count, 0);
}

/** Each client waits at most once until its node notices the outage. */
function assertDatabaseOutage(cost: Cost): void {
  const table = costTable([cost]);
  countFailures(cost.failures, [503], cost);
  countFailures(cost.viewerFailures, [], cost);
  assert.ok(cost.silenceMs < MAX_SILENCE_MS, table);
  const slow = cost.unavailableMs.filter((ms) => ms > MAX_UNAVAILABLE_MS);
  const maxSlow = load.clients + cost.unavailableMs.length * MAX_SLOW_SHARE;
  assert.ok(slow.length <= maxSlow, `${slow.length} slow 503 responses\n${table}`);
  assert.ok((slow.at(-1) ?? 0) < MAX_DEADLINE_MS, table);
  assert.ok(cost.readyMs < MAX_READY_MS, table);
}

test('viewers continue while PostgreSQL is killed, and API clients get 503 immediately', {
  skip,
}, async () => {
  assertDatabaseOutage(await costOf('postgres', 'kill', DATABASE_SECONDS));
});

test('viewers continue while PostgreSQL is frozen, and each API client waits once', { skip }, async () => {
  assertDatabaseOutage(await costOf('postgres', 'freeze', DATABASE_SECONDS));
});

for (const name of ['api-1', 'api-2'])
  test(`a killed ${name} costs only the requests that were open`, { skip }, async () => {
    const cost = await costOf(name, 'kill', NODE_SECONDS);
    const interrupted = countFailures(cost.failures, ['reset', 502, 503], cost);
    assert.ok(interrupted <= MAX_INTERRUPTED, costTable([cost]));
    assert.ok(cost.silenceMs < MAX_NODE_SILENCE_MS, costTable([cost]));
  });

for (const name of ['worker-1', 'worker-2'])
  test(`a killed ${name} costs API clients and viewers nothing`, { skip }, async () => {
    const cost = await costOf(name, 'kill', NODE_SECONDS);
    countFailures(cost.failures, [], cost);
    countFailures(cost.viewerFailures, [], cost);
    assert.ok(cost.silenceMs < MAX_NODE_SILENCE_MS, costTable([cost]));
  });

for (const name of ['media-1', 'media-2'])
  test(`encoders of a killed ${name} reconnect to the other node`, { skip }, async () => {
    const cost = await costOf(name, 'kill', NODE_SECONDS);
    countFailures(cost.failures, [], cost);
    assert.ok(cost.silenceMs < MAX_NODE_SILENCE_MS, costTable([cost]));
  });

for (const how of ['kill', 'freeze'] as const)
  test(`clients do not notice that Redis fails: ${how}`, {
    skip: skip || redisProgram === null,
  }, async () => {
    const cost = await costOf('redis', how, NODE_SECONDS);
    countFailures(cost.failures, [], cost);
    countFailures(cost.viewerFailures, [], cost);
    assert.ok(cost.silenceMs < MAX_NODE_SILENCE_MS, costTable([cost]));
  });

test('clients and viewers of broadcasts do not notice that S3 is killed', {
  skip: skip || !hasS3(),
}, async () => {
  const cost = await costOf('s3', 'kill', NODE_SECONDS);
  countFailures(cost.failures, [], cost);
  countFailures(cost.viewerFailures, [], cost);
  assert.ok(cost.silenceMs < MAX_NODE_SILENCE_MS, costTable([cost]));
});

test('a restarted load balancer costs only its connections', { skip }, async () => {
  const cost = await costOf('haproxy', 'kill', 1);
  countFailures(cost.failures, ['reset'], cost);
  assert.ok(cost.silenceMs < MAX_NODE_SILENCE_MS, costTable([cost]));
});

test('SIGTERM of an api node fails no request on a fresh connection', { skip }, async () => {
  const [node] = cluster.nodesOf('api');
  assert.ok(node !== undefined);
  drain = await runDrain(cluster, load, node);
  assert.ok(drain.requests > 100);
  assert.deepEqual([...drain.failures], []);
});

test('no acknowledged write, event or upload is lost, and no write is doubled', { skip }, async (t) => {
  const result = await load.finish();
  for (const line of `${costTable(costs)}\n${resultLines(result, drain)}`.split('\n')) t.diagnostic(line);
  const { writes, webhooks, uploads } = result;
  assert.ok(writes.acknowledged > 100 && uploads.acknowledged > 3);
  assert.deepEqual([writes.lost, writes.doubled, webhooks.lost, uploads.lost], [0, 0, 0, 0]);
});
