import type { Costs, Layout, Profile, Role, Work } from './schemas.ts';

/** Units of work per second. Broadcasts, restreams and viewers last: one of them is a unit in each second. */
export type Rates = Readonly<Record<Work, number>>;

/** Role that does the work; the database has its own share of each. */
export const ROLE_OF: Readonly<Record<Work, Role>> = {
  read: 'api',
  write: 'api',
  livePlaylist: 'api',
  segment: 'api',
  viewerFacts: 'api',
  broadcast: 'media',
  broadcastWithRungs: 'media',
  restream: 'media',
  videoMinute: 'worker',
  delivery: 'worker',
};
const WORK = Object.keys(ROLE_OF).filter((name): name is Work => name in ROLE_OF);

/** Seconds between two reports of a player. */
const FACTS_SEC = 15;
const HOUR_SEC = 3600;
/** Share of the processors that may be in use, so that peaks within a second do not queue. */
const MAX_PROCESSOR_SHARE = 0.6;

/** Returns the work of one hour of the day. */
export function ratesOf({ peak, day, viewers }: Profile, hour: number): Rates {
  const share = day[hour] ?? 0;
  const watching = peak.viewers * share;
  const served = watching * (1 - viewers.cdnShare);
  return {
    read: peak.readsPerSec * share,
    write: peak.writesPerSec * share,
    livePlaylist: served / viewers.segmentSec,
    segment: served / viewers.segmentSec,
    viewerFacts: watching / FACTS_SEC,
    broadcast: peak.broadcasts * share,
    broadcastWithRungs: peak.broadcastsWithRungs * share,
    restream: peak.restreams * share,
    videoMinute: (peak.uploadedMinutesPerHour * share) / HOUR_SEC,
    delivery: peak.deliveriesPerSec * share,
  };
}

/** Resources in use, as a mean over all nodes. */
export interface Use {
  cores: Record<Role | 'database', number>;
  commitsPerSec: number;
  walBytesPerSec: number;
  databaseBytesPerSec: number;
}

/** Returns the sum of the costs. The database also works for idle nodes. */
export function useOf({ work, idle }: Costs, rates: Rates, nodes = 1): Use {
  const use: Use = {
    cores: { api: 0, media: 0, worker: 0, database: idle.databaseCores * nodes },
    commitsPerSec: idle.commitsPerSec * nodes,
    walBytesPerSec: idle.walBytesPerSec * nodes,
    databaseBytesPerSec: 0,
  };
  for (const name of WORK) {
    const cost = work[name];
    use.cores[ROLE_OF[name]] += (rates[name] * cost.programMs) / 1000;
    use.cores.database += (rates[name] * cost.databaseMs) / 1000;
    use.commitsPerSec += rates[name] * cost.commits;
    use.walBytesPerSec += rates[name] * cost.walBytes;
    use.databaseBytesPerSec += rates[name] * cost.storedBytes;
  }
  return use;
}

/** Bits per second, over all nodes of a role. */
export interface Traffic {
  apiOutBits: number;
  mediaInBits: number;
}

export function trafficOf({ viewers, bitsPerSec }: Profile, rates: Rates): Traffic {
  const broadcasts = rates.broadcast + rates.broadcastWithRungs;
  return {
    apiOutBits: rates.segment * viewers.segmentSec * bitsPerSec,
    mediaInBits: broadcasts * bitsPerSec,
  };
}

/** Returns the growth of the database in a day. */
export function databaseBytesPerDay(profile: Profile, costs: Costs): number {
  return profile.day.reduce(
    (sum, _, hour) => sum + useOf(costs, ratesOf(profile, hour)).databaseBytesPerSec * HOUR_SEC,
    0,
  );
}

/** Returns the bytes of recordings and uploaded videos in an hour, outside of the database. */
export function mediaBytesOf({ bitsPerSec, recordedShare }: Profile, rates: Rates): number {
  const recordedSec = (rates.broadcast + rates.broadcastWithRungs) * recordedShare * HOUR_SEC;
  // The original file and its renditions, which together are as large.
  const uploadedSec = rates.videoMinute * HOUR_SEC * 60 * 2;
  return ((recordedSec + uploadedSec) * bitsPerSec) / 8;
}

/** Returns the database connections of a node of the role. */
export function connectionsOf(layout: Layout): number {
  const ofRole = (role: Role) => layout[role].nodes * layout[role].processes * layout.pool;
  return ofRole('api') + ofRole('media') + ofRole('worker');
}

/** Load of the busiest media node. */
export interface Busiest {
  cores: number;
  networkBits: number;
  memoryMb: number;
}

/** Returns the viewers of each broadcast by Zipf's law, most watched first. */
export function zipfViewers(viewers: number, broadcasts: number, exponent: number): number[] {
  const weights = Array.from({ length: broadcasts }, (_, rank) => (rank + 1) ** -exponent);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => (viewers * weight) / sum);
}

/**
 * Returns the load of the busiest media node in each draw, which places every broadcast on a random one of the
 * remaining nodes. An API node fetches a broadcast once, however many watch it there.
 */
export function drawBusiest(
  { profile, costs, layout }: { profile: Profile; costs: Costs; layout: Layout },
  rates: Rates,
  { draws, random }: { draws: number; random: () => number },
): Busiest[] {
  const nodes = remaining(layout.media.nodes);
  const all = Math.round(rates.broadcast + rates.broadcastWithRungs);
  const watching = (rates.segment * profile.viewers.segmentSec) / (all || 1);
  const viewers = zipfViewers(watching * all, all, profile.viewers.zipfExponent);
  const fetches = viewers.map((count) => Math.min(count, remaining(layout.api.nodes)));
  const { broadcast, broadcastWithRungs, restream } = costs.work;
  const restreams = all === 0 ? 0 : rates.restream / all;
  const placed = Array.from({ length: all }, (_, index) => {
    const cost = index < rates.broadcastWithRungs ? broadcastWithRungs : broadcast;
    const bits = profile.bitsPerSec * (1 + (fetches[index] ?? 0) + restreams);
    return {
      cores: (cost.programMs + restreams * restream.programMs) / 1000,
      networkBits: bits,
      memoryMb: cost.memoryMb + restreams * restream.memoryMb,
    };
  });
  return Array.from({ length: draws }, () => {
    const loads = Array.from({ length: nodes }, () => ({ cores: 0, networkBits: 0, memoryMb: 0 }));
    for (const one of placed) {
      const node = loads[Math.floor(random() * nodes)];
      if (node === undefined) continue;
      node.cores += one.cores;
      node.networkBits += one.networkBits;
      node.memoryMb += one.memoryMb;
    }
    return {
      cores: Math.max(...loads.map(({ cores }) => cores)),
      networkBits: Math.max(...loads.map(({ networkBits }) => networkBits)),
      memoryMb: Math.max(...loads.map(({ memoryMb }) => memoryMb)),
    };
  });
}

/** One node of a role is lost, if there are several. */
function remaining(nodes: number): number {
  return Math.max(1, nodes - 1);
}

/** A resource, its use at the peak, and what to do when it is used up. */
export interface Limit {
  name: string;
  used: number;
  available: number;
  unit: string;
  remedy: string;
}

export interface Peak {
  profile: Profile;
  costs: Costs;
  layout: Layout;
  rates: Rates;
  /** Load of the busiest media node that 99 of 100 draws do not exceed. */
  busiest: Busiest;
}

/** Returns the limits with one lost node per role, the one reached first at the head. */
export function limitsOf(peak: Peak): Limit[] {
  const limits = [...mediaLimits(peak), ...apiLimits(peak), ...workerLimits(peak), ...databaseLimits(peak)];
  return limits.toSorted((a, b) => b.used / b.available - a.used / a.available);
}

const usableCores = (cores: number) => cores * MAX_PROCESSOR_SHARE;

function mediaLimits({ layout: { media }, costs, busiest }: Peak): Limit[] {
  const remedy = 'Add media nodes, or encode fewer rungs (LIVE_MAX_RUNGS).';
  const memoryMb = busiest.memoryMb + media.processes * costs.processMb.media;
  return [
    limit('processors of a media node', busiest.cores, usableCores(media.cores), 'cores', remedy),
    limit(
      'network of a media node',
      busiest.networkBits / 1e9,
      media.networkGbit,
      'Gbit/s',
      'Add media nodes.',
    ),
    limit('memory of a media node', memoryMb / 1024, media.memoryGb, 'GB', 'Add memory or media nodes.'),
  ];
}

function apiLimits({ profile, costs, layout, rates }: Peak): Limit[] {
  const { api } = layout;
  const nodes = remaining(api.nodes);
  const cores = useOf(costs, rates).cores.api / nodes;
  const bits = trafficOf(profile, rates).apiOutBits / nodes;
  const memoryGb = (api.processes * costs.processMb.api) / 1024;
  return [
    limit(
      'processors of an API node',
      cores,
      usableCores(api.cores),
      'cores',
      'Add API nodes or API_PROCESSES.',
    ),
    limit(
      'network of an API node',
      bits / 1e9,
      api.networkGbit,
      'Gbit/s',
      'Serve viewers by a CDN or nginx.',
    ),
    limit('memory of an API node', memoryGb, api.memoryGb, 'GB', 'Add memory, or lower API_PROCESSES.'),
  ];
}

function workerLimits({ profile, costs, layout, rates }: Peak): Limit[] {
  const { worker } = layout;
  const nodes = remaining(worker.nodes);
  const cores = useOf(costs, rates).cores.worker / nodes;
  const inFlight = (rates.delivery * profile.receiverLatencyMs) / 1000 / nodes;
  const slots = worker.processes * layout.deliverySlots;
  return [
    limit('processors of a worker node', cores, usableCores(worker.cores), 'cores', 'Add worker nodes.'),
    limit('deliveries in flight of a worker node', inFlight, slots, 'deliveries', 'Add WORKER_PROCESSES.'),
  ];
}

function databaseLimits({ profile, costs, layout, rates }: Peak): Limit[] {
  const { database } = layout;
  const nodes = layout.api.nodes + layout.media.nodes + layout.worker.nodes;
  const use = useOf(costs, rates, nodes);
  const storedTb = (databaseBytesPerDay(profile, costs) * database.retentionDays) / 1e12;
  const remedy = databaseRemedy(costs, rates);
  return [
    limit('processors of PostgreSQL', use.cores.database, usableCores(database.cores), 'cores', remedy),
    limit('commits of PostgreSQL', use.commitsPerSec, database.commitsPerSec, 'per second', remedy),
    limit(
      'connections of PostgreSQL',
      connectionsOf(layout),
      database.maxConnections,
      'connections',
      'Set DATABASE_POOL=4; then pgbouncer.',
    ),
    limit('disk of PostgreSQL', storedTb, database.storageTb, 'TB', 'Keep usage events for fewer days.'),
  ];
}

/** Returns the remedy for the work that costs PostgreSQL most, in the order of docs/operations/capacity.md. */
function databaseRemedy({ work }: Costs, rates: Rates): string {
  const most = WORK.reduce((a, b) => (rates[b] * work[b].databaseMs > rates[a] * work[a].databaseMs ? b : a));
  if (most === 'viewerFacts') return 'Gather the facts of viewers per minute, then a database of their own.';
  if (most === 'read') return 'Read lists, analytics and pages from replicas.';
  return 'Split the platform into cells, each with its own PostgreSQL.';
}

function limit(name: string, used: number, available: number, unit: string, remedy: string): Limit {
  return { name, used, available, unit, remedy };
}

/** Returns the value that a share of the values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
