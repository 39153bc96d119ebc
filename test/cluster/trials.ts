import { setTimeout as sleep } from 'node:timers/promises';
import { sendFreshConnections } from '../harness/fresh-connections.ts';
import { waitFor } from '../harness/wait-for.ts';
import type { Cluster } from './cluster.ts';
import type { Load, Period } from './load.ts';
import type { ClusterNode } from './node.ts';
import type { Part } from './part.ts';
import { isOk, type Sample, sample } from './requests.ts';

/** Time after a return in which its costs are still counted. */
const SETTLE_MS = 3000;
const READY_POLL_MS = 25;

export interface Trial {
  part: Part;
  how: 'kill' | 'freeze';
  /** How long the part is away. */
  seconds: number;
}

/** What one trial cost. */
export interface Cost {
  name: string;
  requests: number;
  /** Failed requests of API clients, by status. */
  failures: ReadonlyMap<Sample['outcome'], number>;
  /** Failed requests of viewers, by status. */
  viewerFailures: ReadonlyMap<Sample['outcome'], number>;
  /** Durations of the 503 responses to API clients, ascending. */
  unavailableMs: number[];
  /** Longest time that a viewer had no new media. */
  silenceMs: number;
  /** Longest time without a webhook delivery. */
  webhookSilenceMs: number;
  /** From the start of the part, or from the return of the database, until all api nodes respond. */
  readyMs: number;
  /** Other nodes whose processes are not the same as before. */
  restarted: string[];
}

/** Takes a part away and returns it under load. */
export async function runTrial(cluster: Cluster, load: Load, trial: Trial): Promise<Cost> {
  const { part, how, seconds } = trial;
  const name = `${part.name} ${how === 'kill' ? 'killed' : 'frozen'} ${seconds} s`;
  return measure({ cluster, load, part, name }, async () => {
    if (how === 'kill') await part.kill();
    else part.freeze?.();
    await sleep(seconds * 1000);
    return returnPart(cluster, load, trial);
  });
}

/** Replaces the program of a node under load by that of this checkout. */
export async function runReplacement(cluster: Cluster, load: Load, node: ClusterNode): Promise<Cost> {
  return measure({ cluster, load, part: node, name: `${node.name} replaced` }, async () => {
    await node.stop();
    const begunMs = performance.now();
    await node.startFrom(undefined);
    return performance.now() - begunMs;
  });
}

interface Measurement {
  cluster: Cluster;
  load: Load;
  part: Part;
  name: string;
}

/** @param work returns the time until ready. */
async function measure(
  { cluster, load, part, name }: Measurement,
  work: () => Promise<number>,
): Promise<Cost> {
  const others = cluster.nodes.filter((node) => node.name !== part.name);
  const before = others.map((node) => ({ node, pids: String(node.pids()) }));
  const fromMs = performance.now();
  const readyMs = await work();
  await sleep(SETTLE_MS);
  await untilAllWatch(load);
  const restarted = before.filter(({ node, pids }) => String(node.pids()) !== pids);
  return {
    ...costOf(load, { fromMs, toMs: performance.now() }),
    ...{ name, readyMs, restarted: restarted.map(({ node }) => node.name) },
  };
}

/** @returns the time until all api nodes respond. */
async function returnPart(cluster: Cluster, load: Load, { part, how }: Trial): Promise<number> {
  const isNode = cluster.nodes.some(({ name }) => name === part.name);
  let returnedMs = performance.now();
  if (how === 'freeze') part.thaw?.();
  else {
    await part.start();
    if (!isNode) returnedMs = performance.now();
  }
  const { headers, streamPath } = load;
  for (const { platform } of cluster.nodesOf('api'))
    await waitFor(async () => isOk((await sample(`${platform().api}${streamPath}`, { headers })).sample), {
      timeoutMs: 30_000,
      intervalMs: READY_POLL_MS,
      message: 'the api nodes to respond',
    });
  return performance.now() - returnedMs;
}

/** Waits until each viewer sees new media. */
async function untilAllWatch({ viewers }: Load): Promise<void> {
  const fromMs = performance.now();
  await waitFor(() => viewers.every((viewer) => viewer.seenMs() > fromMs), {
    timeoutMs: 30_000,
    message: 'new media for every viewer',
  });
}

function costOf(load: Load, period: Period): Omit<Cost, 'name' | 'readyMs' | 'restarted'> {
  const samples = load.apiSamples(period);
  return {
    requests: samples.length,
    failures: countFailures(samples),
    viewerFailures: countFailures(load.viewerSamples(period)),
    unavailableMs: samples
      .filter(({ outcome }) => outcome === 503)
      .map(({ tookMs }) => tookMs)
      .sort((a, b) => a - b),
    silenceMs: Math.max(...load.viewers.map((viewer) => viewer.silenceMs(period))),
    webhookSilenceMs: load.webhookSilenceMs(period),
  };
}

function countFailures(samples: readonly Sample[]): Cost['failures'] {
  const counts = new Map<Sample['outcome'], number>();
  for (const { outcome } of samples.filter((one) => !isOk(one)))
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return counts;
}

const FRESH_CLIENTS = 8;

/** What a drain cost the clients that open a connection for each request. */
export interface DrainCost {
  requests: number;
  failures: readonly string[];
}

/** Stops an api node by SIGTERM while clients open new connections, then starts it again. */
export async function runDrain(cluster: Cluster, load: Load, node: ClusterNode): Promise<DrainCost> {
  const over = Promise.withResolvers<void>();
  const sending = sendFreshConnections(`${cluster.api}${load.streamPath}`, {
    clients: FRESH_CLIENTS,
    headers: load.headers,
    until: over.promise,
  });
  await sleep(1000);
  await node.stop();
  await sleep(1000);
  over.resolve();
  const { sent, failures } = await sending;
  await node.start();
  return { requests: sent, failures };
}
