import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { readEmbeddedUrl } from '../src/platform/db/embedded.ts';
import { type RunningPlatform, startPlatform, unlimitedHeaders } from '../test/harness/platform.ts';
import { ownSeconds, processorSeconds } from './support/processes.ts';
import { isQuick, median, report } from './support/report.ts';

/**
 * Measures the cost of counting in the first process of a tree: reads of one process that counts over IPC against one
 * that counts by itself. The processor time is that of the first process, the API process and PostgreSQL. Rounds are
 * interleaved; the median counts.
 */
const ROUNDS = isQuick ? 3 : 7;
const SECONDS = isQuick ? 2 : 4;

interface Side {
  process: ChildProcess;
  url: string;
}

interface Measured {
  speed: number;
  /** Microseconds of a processor for each request. */
  cost: number;
  /** Microseconds of the process that the benchmark started: of the tree, the first one. */
  firstCost: number;
  latencyMs: number;
}

async function startSide(platform: RunningPlatform, program: string, args: string[]): Promise<Side> {
  const databaseUrl = readEmbeddedUrl(platform.dataDir);
  if (databaseUrl === null) throw new Error('the platform has no database');
  const file = join(import.meta.dirname, 'support', program);
  const child = fork(file, [databaseUrl, platform.dataDir, ...args]);
  const [port] = await once(child, 'message');
  return { process: child, url: `http://127.0.0.1:${port}/api/v1/streams?limit=1` };
}

async function measure(platform: RunningPlatform, side: Side, connections: number): Promise<Measured> {
  const pid = side.process.pid ?? 0;
  const used = () => processorSeconds(pid) + processorSeconds(platform.process.pid ?? 0);
  const before = { all: used(), first: ownSeconds(pid) };
  const { requests, latency, non2xx } = await autocannon({
    url: side.url,
    headers: await unlimitedHeaders(platform),
    connections,
    duration: SECONDS,
  });
  if (non2xx > 0) throw new Error(`${non2xx} responses of ${side.url} were not 2xx`);
  return {
    speed: requests.average,
    cost: ((used() - before.all) / requests.total) * 1e6,
    firstCost: ((ownSeconds(pid) - before.first) / requests.total) * 1e6,
    latencyMs: latency.average,
  };
}

async function compare(platform: RunningPlatform, sides: readonly [Side, Side], connections: number) {
  const results: [Measured[], Measured[]] = [[], []];
  for (let round = -1; round < ROUNDS; round++) {
    // Alternate the order so that it has no influence.
    for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const measured = await measure(platform, sides[side], connections);
      // The first round warms up.
      if (round >= 0) results[side].push(measured);
    }
  }
  const [alone, tree] = results;
  const differences = (name: keyof Measured) =>
    tree.map((one, round) => one[name] - (alone[round]?.[name] ?? Number.NaN));
  const ratios = (name: keyof Measured) =>
    tree.map((one, round) => one[name] / (alone[round]?.[name] ?? Number.NaN));
  const name = `A read counted in the first process, ${connections} connections`;
  const unit = 'of one counted in its own process';
  report({ name, value: median(ratios('speed')), unit: `${unit}, requests a second`, target: '>= 0.7' });
  report({ name, value: median(ratios('cost')), unit: `${unit}, processor time`, target: '<= 1.5' });
  report({ name, value: median(differences('cost')), unit: 'us more processor time', target: '<= 60' });
  const first = median(tree.map(({ firstCost }) => firstCost));
  report({ name, value: first, unit: 'us of the first process', target: '<= 30' });
  report({ name, value: median(differences('latencyMs')), unit: 'ms more', target: '<= 20' });
}

const platform = await startPlatform({ environment: { ROLES: 'api' } });
const alone = await startSide(platform, 'counting-node.ts', ['stored']);
const tree = await startSide(platform, 'counting-tree.ts', []);
try {
  for (const connections of [32, 256]) await compare(platform, [alone, tree], connections);
} finally {
  for (const { process: child } of [alone, tree]) child.disconnect();
  await platform.stop();
}
