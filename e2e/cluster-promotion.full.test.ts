import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Cluster, startCluster } from '../test/cluster/cluster.ts';
import { type Load, startLoad } from '../test/cluster/load.ts';
import { patroniUnavailableReason, startPatroni } from '../test/cluster/patroni.ts';
import { costTable, resultLines } from '../test/cluster/table.ts';
import { type Cost, runTrial } from '../test/cluster/trials.ts';
import { type HttpsSink, startHttpsSink } from '../test/harness/https-sink.ts';

const skip = patroniUnavailableReason() ?? false;
/** Patroni promotes the replica 20 seconds after the primary's last sign. */
const AWAY_SECONDS = 30;
const MAX_SILENCE_MS = 4000;

let sink: HttpsSink;
let cluster: Cluster;
let load: Load;
let cost: Cost;

before(async () => {
  if (skip !== false) return;
  sink = await startHttpsSink();
  cluster = await startCluster({
    database: await startPatroni(),
    environment: { WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8', NODE_EXTRA_CA_CERTS: sink.ca.file },
  });
  load = await startLoad(cluster, sink);
});
after(async () => {
  await load?.stop();
  await cluster?.close();
  await sink?.close();
});

test('viewers continue until Patroni promotes the replica, and API clients get 503', { skip }, async () => {
  cost = await runTrial(cluster, load, { part: cluster.postgres, how: 'kill', seconds: AWAY_SECONDS });
  const table = costTable([cost]);
  assert.deepEqual([...cost.failures.keys()], [503], table);
  assert.deepEqual([...cost.viewerFailures], [], table);
  assert.deepEqual(cost.restarted, [], table);
  assert.ok(cost.silenceMs < MAX_SILENCE_MS, table);
});

test('no acknowledged write is lost or doubled by a promotion', { skip }, async (t) => {
  const result = await load.finish();
  for (const line of `${costTable([cost])}\n${resultLines(result, null)}`.split('\n')) t.diagnostic(line);
  const { writes, webhooks, uploads } = result;
  assert.ok(writes.acknowledged > 10);
  assert.deepEqual([writes.lost, writes.doubled, webhooks.lost, uploads.lost], [0, 0, 0, 0]);
});
