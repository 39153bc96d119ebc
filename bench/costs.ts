/**
 * Measures the costs that `npm run capacity` adds up, with the processor time of the program and of PostgreSQL:
 * `node bench/costs.ts [file]` prints them, and writes them to the file as JSON. Eight minutes.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cost, Costs, Work } from '../scripts/capacity/schemas.ts';
import { type CapacityBench, startCapacityBench, type Used } from './support/capacity-bench.ts';
import { proportionalMegabytes } from './support/memory.ts';
import { report } from './support/report.ts';

const FILE = process.argv[2];
const WINDOW_SEC = 10;
const WARM_MS = 10_000;
const SETTLE_MS = 8000;

/** Rates at which the work is measured: far below the limits, as in operation. */
const RATES: Readonly<Partial<Record<Work, number>>> = {
  read: 300,
  write: 40,
  delivery: 40,
  viewerFacts: 200,
  livePlaylist: 200,
  segment: 60,
};

/** Memory of the media process and what it starts. */
const megabytes = ({ platform }: CapacityBench) =>
  proportionalMegabytes(platform.process.pid ?? 0).reduce(
    (sum, { name, megabytes: own }) => (/^(PostgreSQL|start)/.test(name) ? sum : sum + own),
    0,
  );

const round = (value: number) => Number(value.toPrecision(3));

/** Returns the cost of a unit: what is used beyond the same time without the work. */
function costOf(used: Used, without: Used, units: number, memoryMb = 0): Cost {
  const share = used.seconds / without.seconds;
  const beyond = (name: 'programSec' | 'databaseSec' | 'commits' | 'walBytes' | 'databaseBytes') =>
    Math.max(0, used[name] - without[name] * share) / units;
  return {
    programMs: round(beyond('programSec') * 1000),
    databaseMs: round(beyond('databaseSec') * 1000),
    commits: round(beyond('commits')),
    walBytes: round(beyond('walBytes')),
    storedBytes: round(beyond('databaseBytes')),
    memoryMb: round(Math.max(0, memoryMb)),
  };
}

/** Measures requests, whose number is that of the load. */
async function measureRequests(bench: CapacityBench, work: Work): Promise<Cost> {
  const rate = RATES[work] ?? 0;
  const without = await bench.measure(WINDOW_SEC);
  const load = await bench.start(work, rate);
  await sleep(WARM_MS);
  const used = await bench.measure(WINDOW_SEC);
  const reached = await load.stop();
  process.stderr.write(`${work}: ${reached.toFixed(1)} of ${rate} per second\n`);
  // What it has caused is still processed.
  await sleep(SETTLE_MS);
  return costOf(used, without, reached * used.seconds);
}

/** Returns the cost of the work without that of other work it is measured with. */
function without(cost: Cost, other: Cost): Cost {
  const beyond = (name: keyof Cost) => round(Math.max(0, cost[name] - other[name]));
  return {
    programMs: beyond('programMs'),
    databaseMs: beyond('databaseMs'),
    commits: beyond('commits'),
    walBytes: beyond('walBytes'),
    storedBytes: beyond('storedBytes'),
    memoryMb: 0,
  };
}

/** Measures `count` units that last. */
async function measureLasting(bench: CapacityBench, work: Work, count: number) {
  const before = { used: await bench.measure(WINDOW_SEC), memoryMb: megabytes(bench) };
  const load = await bench.start(work, count);
  const used = await bench.measure(WINDOW_SEC);
  const cost = costOf(used, before.used, count * used.seconds, (megabytes(bench) - before.memoryMb) / count);
  process.stderr.write(`${work}: ${JSON.stringify(cost)}\n`);
  return { cost, load };
}

async function measureVideo(bench: CapacityBench): Promise<Cost> {
  const without = await bench.measure(WINDOW_SEC);
  const load = await bench.start('videoMinute', 10);
  const measured = bench.measure(60);
  const used = await measured;
  const minutesPerSec = await load.stop();
  return costOf(used, without, minutesPerSec * used.seconds);
}

/** Returns the memory of the processes of an idle platform; that of the API includes the worker. */
function processMemory({ platform }: CapacityBench): Costs['processMb'] {
  const sums = proportionalMegabytes(platform.process.pid ?? 0);
  const of = (name: string) => Math.round(sums.find((one) => one.name.startsWith(name))?.megabytes ?? 0);
  return { api: of('start'), media: of('media'), worker: of('start') };
}

const plain = await startCapacityBench(0);
let costs: Costs;
try {
  await sleep(10_000);
  const idle = await plain.measure(WINDOW_SEC);
  const processMb = processMemory(plain);
  const requests = async (work: Work) => measureRequests(plain, work);
  const [read, write, viewerFacts] = [
    await requests('read'),
    await requests('write'),
    await requests('viewerFacts'),
  ];
  const withDelivery = await requests('delivery');
  const { cost: broadcast } = await measureLasting(plain, 'broadcast', 4);
  const { cost: restream } = await measureLasting(plain, 'restream', 4);
  const [livePlaylist, segment] = [await requests('livePlaylist'), await requests('segment')];
  const delivery = without(withDelivery, write);
  const rungs = await startCapacityBench(2);
  let [broadcastWithRungs, videoMinute] = [broadcast, broadcast];
  try {
    await sleep(10_000);
    const lasting = await measureLasting(rungs, 'broadcastWithRungs', 1);
    broadcastWithRungs = lasting.cost;
    await lasting.load.stop();
    await sleep(SETTLE_MS);
    videoMinute = await measureVideo(rungs);
  } finally {
    await rungs.close();
  }
  costs = {
    machine: `${cpus().length} cores of ${cpus()[0]?.model.trim() ?? 'an unknown processor'}`,
    measuredOn: new Date().toISOString().slice(0, 10),
    idle: {
      programCores: round(idle.programSec / idle.seconds),
      databaseCores: round(idle.databaseSec / idle.seconds),
      commitsPerSec: round(idle.commits / idle.seconds),
      walBytesPerSec: round(idle.walBytes / idle.seconds),
    },
    processMb,
    work: {
      ...{ read, write, livePlaylist, segment, broadcast, broadcastWithRungs },
      ...{ restream, viewerFacts, videoMinute, delivery },
    },
  };
} finally {
  await plain.close();
}
for (const [work, { programMs, databaseMs }] of Object.entries(costs.work)) {
  const unit = 'ms';
  report({ name: `${work}: processor time of the program`, value: programMs, unit, target: '>= 0' });
  report({ name: `${work}: processor time of PostgreSQL`, value: databaseMs, unit, target: '>= 0' });
}
if (FILE !== undefined) writeFileSync(FILE, `${JSON.stringify(costs, null, 2)}\n`);
