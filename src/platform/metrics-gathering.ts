import { setTimeout as sleep } from 'node:timers/promises';
import { AggregatorRegistry, type Registry } from 'prom-client';

/** A metric of one process, as `getMetricsAsJSON` of its registry returns it. */
interface ProcessMetric {
  readonly name: string;
  readonly type: unknown;
  readonly values: readonly { readonly value: number | null; readonly labels: object }[];
}

export type ProcessMetrics = readonly ProcessMetric[];

/** A process whose metrics are gathered. */
export interface MetricsSource {
  /** Value of the label `process`. */
  readonly name: string;
  /** Resolves when `last` is up to date. */
  refresh(): Promise<void>;
  /** Returns the most recent metrics; empty before the first. */
  last(): ProcessMetrics;
}

/** Metrics of several processes as one. */
export interface MetricsGathering {
  readonly contentType: string;
  metrics(): Promise<string>;
  /** Includes the process from now on. */
  add(source: MetricsSource): void;
  /** Removes an ended process. Its counts remain, so that sums never decrease. */
  remove(source: MetricsSource): void;
}

/** Time for the metrics of a process; a stalled one is represented by its previous values. */
const DEADLINE_MS = 1000;
/** Metrics whose sum over processes means nothing. */
const PER_PROCESS = /^marquee_(nodejs_(eventloop|heap|external_memory)|process_.*(memory|heap))/;

/** Gathers the metrics of several processes. Those of event loops and memory get the label `process`. */
export function gatherMetrics(): MetricsGathering {
  const running = new Set<MetricsSource>();
  let ended: Promise<ProcessMetrics> = Promise.resolve([]);

  return {
    contentType: AggregatorRegistry.PROMETHEUS_CONTENT_TYPE,
    async metrics() {
      const late = sleep(DEADLINE_MS, undefined, { ref: false });
      await Promise.all([...running].map((source) => Promise.race([source.refresh(), late])));
      const labeled = [...running].map((source) => labelProcess(source.last(), source.name));
      return aggregate([await ended, ...labeled]).metrics();
    },
    add: (source) => void running.add(source),
    remove(source) {
      running.delete(source);
      const counts = source.last().filter(isCount);
      ended = ended.then((before) => aggregate([before, counts]).getMetricsAsJSON());
    },
  };
}

/** The metrics of this process among those of others. */
export function ownMetrics(name: string, registry: Registry): MetricsSource {
  let last: ProcessMetrics = [];
  return {
    name,
    async refresh() {
      last = await registry.getMetricsAsJSON();
    },
    last: () => last,
  };
}

/** Merges by the rule of each metric; JSON has null for values that are not finite. */
function aggregate(processes: readonly ProcessMetrics[]) {
  const complete = processes.map((metrics) =>
    metrics.map((metric) => ({ ...metric, values: metric.values.filter(({ value }) => value !== null) })),
  );
  return AggregatorRegistry.aggregate(complete);
}

const isCount = ({ type }: ProcessMetric) => type === 'counter' || type === 'histogram';

function labelProcess(metrics: ProcessMetrics, process: string): ProcessMetrics {
  return metrics.map((metric) => {
    if (!PER_PROCESS.test(metric.name)) return metric;
    const values = metric.values.map((value) => ({ ...value, labels: { ...value.labels, process } }));
    return { ...metric, values };
  });
}
