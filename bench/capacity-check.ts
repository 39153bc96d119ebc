/**
 * Compares predictions of `npm run capacity` with three measured loads on a single node:
 * `node bench/capacity-check.ts [costs.json]`. Three minutes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Value from 'typebox/value';
import { type Rates, useOf } from '../scripts/capacity/model.ts';
import { Costs, type Work } from '../scripts/capacity/schemas.ts';
import { type CapacityBench, type Load, startCapacityBench } from './support/capacity-bench.ts';
import { report } from './support/report.ts';

const FILE = process.argv[2] ?? join(import.meta.dirname, '../docs/operations/costs.json');
const WINDOW_SEC = 20;
const SETTLE_MS = 10_000;
const NOTHING: Rates = {
  ...{ read: 0, write: 0, livePlaylist: 0, segment: 0, broadcast: 0, broadcastWithRungs: 0 },
  ...{ restream: 0, viewerFacts: 0, videoMinute: 0, delivery: 0 },
};

interface Mix {
  name: string;
  /** In the order in which the work is started: broadcasts come before what needs them. */
  work: readonly (readonly [Work, number])[];
}

const MIXES: readonly Mix[] = [
  {
    name: 'API',
    work: [
      ['read', 400],
      ['write', 30],
    ],
  },
  {
    name: 'viewers',
    work: [
      ['broadcast', 6],
      ['livePlaylist', 100],
      ['segment', 40],
      ['viewerFacts', 150],
    ],
  },
  {
    name: 'everything',
    work: [
      ['broadcast', 4],
      ['restream', 3],
      ['read', 150],
      ['delivery', 15],
      ['viewerFacts', 80],
      ['livePlaylist', 60],
      ['segment', 20],
    ],
  },
];

async function check(bench: CapacityBench, costs: Costs, { name, work }: Mix): Promise<void> {
  const loads: [Work, Load][] = [];
  for (const [kind, rate] of work) loads.push([kind, await bench.start(kind, rate)]);
  await sleep(SETTLE_MS);
  const used = await bench.measure(WINDOW_SEC);
  const rates = { ...NOTHING };
  for (const [kind, load] of loads.reverse()) {
    rates[kind] = await load.stop();
    // Each delivery is of an event that a write emits.
    if (kind === 'delivery') rates.write += rates[kind];
  }
  const { cores, commitsPerSec } = useOf(costs, rates);
  const program = costs.idle.programCores + cores.api + cores.media + cores.worker;
  compare(`${name}: cores of the program`, program, used.programSec / used.seconds);
  compare(`${name}: cores of PostgreSQL`, cores.database, used.databaseSec / used.seconds);
  compare(
    `${name}: all cores`,
    program + cores.database,
    (used.programSec + used.databaseSec) / used.seconds,
  );
  compare(`${name}: commits`, commitsPerSec, used.commits / used.seconds);
}

function compare(name: string, predicted: number, measured: number): void {
  process.stderr.write(
    `${name}: predicted ${predicted.toPrecision(3)}, measured ${measured.toPrecision(3)}\n`,
  );
  const value = Math.abs(predicted / measured - 1) * 100;
  report({ name: `${name}, deviation`, value, unit: '%', target: '<= 25' });
}

const costs = Value.Parse(Costs, JSON.parse(readFileSync(FILE, 'utf8')));
for (const mix of MIXES) {
  const bench = await startCapacityBench(0);
  try {
    await check(bench, costs, mix);
  } finally {
    await bench.close();
  }
}
