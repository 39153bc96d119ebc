/**
 * `npm run cluster`: a cluster on this machine under a demo load. With `--kills` it kills each part in turn and
 * prints what that costs (docs/guides/operations.md#try-a-cluster).
 */
import { parseArgs } from 'node:util';
import { type Cluster, startCluster } from '../test/cluster/cluster.ts';
import { type Load, startLoad } from '../test/cluster/load.ts';
import { patroniUnavailableReason, startPatroni } from '../test/cluster/patroni.ts';
import { costTable, resultLines } from '../test/cluster/table.ts';
import { type Cost, runDrain, runTrial, type Trial } from '../test/cluster/trials.ts';
import { startHttpsSink } from '../test/harness/https-sink.ts';
import { OWNER_EMAIL, OWNER_KEY } from '../test/harness/platform.ts';

const USAGE = `Usage: npm run cluster -- [options]

  --kills            kill each part in turn, print the costs, and exit
  --only NAMES       only these parts, comma-separated: postgres, redis, s3, haproxy, api-1, worker-2, media-1, …
  --seconds N        how long each part is away (default 10)
  --patroni          use two PostgreSQL servers managed by Patroni; a kill ends the primary
  --no-load          start the cluster without the demo load
`;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    kills: { type: 'boolean' },
    only: { type: 'string' },
    seconds: { type: 'string', default: '10' },
    patroni: { type: 'boolean' },
    'no-load': { type: 'boolean' },
  },
});

const print = (text: string) => void process.stdout.write(`${text}\n`);

function trialsOf({ parts }: Cluster): Trial[] {
  const names = [...parts.keys()];
  const only = values.only?.split(',') ?? names;
  const unknown = only.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`unknown part ${unknown.join(', ')}: use ${names.join(', ')}`);
  const seconds = Number(values.seconds);
  if (!(seconds > 0)) throw new Error('--seconds must be a positive number');
  return [...parts.values()]
    .filter(({ name }) => only.includes(name))
    .flatMap((part) => [
      { part, how: 'kill' as const, seconds },
      ...(part.freeze === undefined ? [] : [{ part, how: 'freeze' as const, seconds }]),
    ]);
}

async function kill(cluster: Cluster, load: Load): Promise<void> {
  const costs: Cost[] = [];
  for (const trial of trialsOf(cluster)) {
    print(`${trial.how} ${trial.part.name} …`);
    costs.push(await runTrial(cluster, load, trial));
  }
  const [node] = cluster.nodesOf('api');
  const drain = node === undefined ? null : await runDrain(cluster, load, node);
  print('waiting for outstanding deliveries and encodes …');
  const result = await load.finish();
  print(costTable(costs));
  print(resultLines(result, drain));
}

function describe(cluster: Cluster): string {
  const nodes = cluster.nodes.map(
    ({ name, port, rtmpPort, role }) =>
      `  ${name.padEnd(9)} ${role === 'media' ? `rtmp://127.0.0.1:${rtmpPort}` : `http://127.0.0.1:${port}`}`,
  );
  const parts = [...cluster.parts.keys()].join(', ');
  return [
    '',
    `URL       ${cluster.url}`,
    `Encoders  ${cluster.rtmpUrl}`,
    `Account   ${OWNER_EMAIL}, API key ${OWNER_KEY}`,
    `Database  ${cluster.databaseUrl}`,
    `Parts     ${parts}`,
    ...cluster.missing.map((reason) => `Skipped   ${reason}`),
    ...nodes,
    '',
  ].join('\n');
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ['SIGINT', 'SIGTERM', 'disconnect'] as const) process.once(event, resolve);
  });
}

async function main(): Promise<void> {
  if (values.help === true) return print(USAGE);
  const stopped = untilStopped();
  const lack = values.patroni === true ? patroniUnavailableReason() : null;
  if (lack !== null) print(`Skipped   ${lack}`);
  const sink = await startHttpsSink();
  const cluster = await startCluster({
    ...(values.patroni === true && lack === null ? { database: await startPatroni() } : {}),
    environment: { WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8', NODE_EXTRA_CA_CERTS: sink.ca.file },
  });
  try {
    print(describe(cluster));
    const load = values['no-load'] === true ? null : await startLoad(cluster, sink);
    if (values.kills === true && load !== null) await Promise.race([kill(cluster, load), stopped]);
    else {
      print('Ctrl-C stops the cluster.');
      await stopped;
    }
    await load?.stop();
  } finally {
    await cluster.close();
    await sink.close();
  }
}

await main();
// A trial may still wait.
process.exit();
