import { createServer, type Server, type ServerResponse } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Metrics of the program, scraped by Prometheus on the internal port. */
export interface Metrics {
  registry: Registry;
  observeRequest(operation: string, method: string, status: number, seconds: number): void;
  eventRefused(type: string): void;
  delivery(outcome: string, seconds: number): void;
  deliveriesLost(count: number): void;
  /** Rows of the request log that were dropped. */
  requestsUnrecorded(count: number): void;
  /** Facts that were dropped: the sums are too low by them. */
  factsLost(count: number): void;
  /** Asked at each look: how far the sums of facts are behind, in seconds. */
  sumsBehind(seconds: () => number): void;
  /** One ended try of a job. */
  job(queue: string, outcome: string, seconds: number): void;
  jobDepths(depths: readonly { name: string; waiting: number; active: number }[]): void;
  /** A request to another node for the live streams that it has. */
  liveAsked(kind: string, outcome: string): void;
  /** A response to a viewer from the last known state of a stream or a video. */
  staleAnswer(kind: string): void;
  /** Reads the state of this process's database connections at each scrape. */
  database(status: () => { connecting: number; open: number; isAway: boolean }): void;
  /** The state of the media role's process. */
  media(state: MediaGauges): void;
}

export interface MediaGauges {
  publishers: number;
  bitrateKbps: number;
  residentBytes: number;
  /** Event loop delay since the last report. */
  eventLoopDelay: { p99Ms: number; maxMs: number };
  /** Number of live stream requests from other nodes since the start, by kind. */
  served: Readonly<Record<string, number>>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Histogram({
    name: 'marquee_http_request_duration_seconds',
    help: 'Completed requests by operation.',
    labelNames: ['operation', 'method', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers,
  });
  const refused = new Counter({
    name: 'marquee_events_refused_total',
    help: 'Events whose data did not fit their schema.',
    labelNames: ['type'],
    registers,
  });
  const deliveries = new Histogram({
    name: 'marquee_webhook_delivery_duration_seconds',
    help: 'Webhook attempts by outcome.',
    labelNames: ['outcome'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10],
    registers,
  });
  const { lost, unrecorded, factsLost } = lossCounters(registers);
  const jobs = new Histogram({
    name: 'marquee_job_duration_seconds',
    help: 'Finished job attempts by outcome.',
    labelNames: ['queue', 'outcome'],
    buckets: [0.1, 1, 10, 60, 300, 1800, 7200],
    registers,
  });
  const depth = new Gauge({
    name: 'marquee_jobs',
    help: 'Waiting and running jobs on all nodes.',
    labelNames: ['queue', 'state'],
    // Every worker process counts those of all nodes.
    aggregator: 'max',
    registers,
  });
  const { asked, staleAnswers } = playbackCounters(registers);
  return {
    registry,
    observeRequest: (operation, method, status, seconds) =>
      requests.observe({ operation, method, status }, seconds),
    eventRefused: (type) => refused.inc({ type }),
    delivery: (outcome, seconds) => deliveries.observe({ outcome }, seconds),
    requestsUnrecorded: (count) => unrecorded.inc(count),
    factsLost: (count) => factsLost.inc(count),
    sumsBehind: (seconds) => watchSums(registry, seconds),
    deliveriesLost: (count) => lost.inc(count),
    job: (queue, outcome, seconds) => jobs.observe({ queue, outcome }, seconds),
    jobDepths(depths) {
      for (const { name: queue, waiting, active } of depths) {
        depth.set({ queue, state: 'waiting' }, waiting);
        depth.set({ queue, state: 'active' }, active);
      }
    },
    liveAsked: (kind, outcome) => asked.inc({ kind, outcome }),
    staleAnswer: (kind) => staleAnswers.inc({ kind }),
    database: (status) => watchDatabase(registers, status),
    media: mediaGauges(registers),
  };
}

/** Counters of live playback. */
function playbackCounters(registers: Registry[]) {
  const asked = new Counter({
    name: 'marquee_live_node_requests_total',
    help: 'Requests to media nodes for their live streams.',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const staleAnswers = new Counter({
    name: 'marquee_live_stale_answers_total',
    help: 'Reads of streams and videos for viewers answered from the last known state because the database was slow or unavailable.',
    labelNames: ['kind'],
    registers,
  });
  return { asked, staleAnswers };
}

function watchDatabase(registers: Registry[], status: Parameters<Metrics['database']>[0]): void {
  new Gauge({
    name: 'marquee_db_pool',
    help: 'Database connections of this process.',
    labelNames: ['state'],
    registers,
    collect() {
      const { connecting, open } = status();
      this.set({ state: 'connecting' }, connecting);
      this.set({ state: 'open' }, open);
    },
  });
  new Gauge({
    name: 'marquee_db_away',
    aggregator: 'max',
    help: '1 while this process cannot reach a database that accepts writes.',
    registers,
    collect() {
      this.set(status().isAway ? 1 : 0);
    },
  });
}

function watchSums(registry: Registry, seconds: () => number): void {
  const name = 'marquee_sums_behind_seconds';
  registry.removeSingleMetric(name);
  new Gauge({
    name,
    help: 'Delay of analytics and usage rollups.',
    aggregator: 'max',
    registers: [registry],
    collect() {
      this.set(seconds());
    },
  });
}

/** Gauges of the media process; its counts restart with it. */
function mediaGauges(registers: Registry[]): Metrics['media'] {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const publishers = gauge('marquee_ingest_publishers', 'Encoders publishing to this node.');
  const bitrate = gauge('marquee_ingest_bitrate_kbps', 'Media received from encoders.');
  const resident = gauge('marquee_media_resident_bytes', 'Resident memory of the media process.');
  const delayP99 = gauge(
    'marquee_media_eventloop_delay_p99_seconds',
    '99th percentile of the event-loop delay of the media process over the last 5 seconds.',
  );
  const delayMax = gauge(
    'marquee_media_eventloop_delay_max_seconds',
    'Longest event-loop delay of the media process over the last 5 seconds.',
  );
  const served = new Counter({
    name: 'marquee_live_node_served_total',
    help: 'Requests from other nodes for live streams of this node.',
    labelNames: ['kind'],
    registers,
  });
  const told = new Map<string, number>();
  return (state) => {
    publishers.set(state.publishers);
    bitrate.set(state.bitrateKbps);
    resident.set(state.residentBytes);
    delayP99.set(state.eventLoopDelay.p99Ms / 1000);
    delayMax.set(state.eventLoopDelay.maxMs / 1000);
    for (const [kind, count] of Object.entries(state.served)) {
      const before = told.get(kind) ?? 0;
      served.inc({ kind }, count < before ? count : count - before);
      told.set(kind, count);
    }
  };
}

/** Counters of lost data. */
function lossCounters(registers: Registry[]) {
  const lost = new Counter({
    name: 'marquee_webhook_deliveries_lost_total',
    help: 'Job attempts whose job was claimed by another worker.',
    registers,
  });
  const unrecorded = new Counter({
    name: 'marquee_request_log_dropped_total',
    help: 'Request log rows dropped because the database was slow or unavailable.',
    registers,
  });
  const factsLost = new Counter({
    name: 'marquee_facts_dropped_total',
    help: 'Usage events dropped because the database was slow or unavailable.',
    registers,
  });
  return { lost, unrecorded, factsLost };
}

/** Starts collecting the default metrics of Node and the system: only scraped processes need them. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, prefix: 'marquee_' });
}

/** Creates the HTTP server for the metrics, and for the probes of orchestrators: only the status `OK` is ready. */
export function metricsServer(
  source: { readonly contentType: string; metrics(): Promise<string> },
  readiness: { status(): string },
): Server {
  return createServer((request, response) => {
    if (request.url === '/healthz') return sendStatus(response, 'OK');
    if (request.url === '/readyz') return sendStatus(response, readiness.status());
    source.metrics().then(
      (text) => response.setHeader('Content-Type', source.contentType).end(text),
      () => response.writeHead(500).end(),
    );
  });
}

function sendStatus(response: ServerResponse, status: string): void {
  response
    .writeHead(status === 'OK' ? 200 : 503, { 'Content-Type': 'application/json' })
    .end(JSON.stringify({ status }));
}
