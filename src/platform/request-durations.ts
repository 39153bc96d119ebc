import { Histogram, type Registry } from 'prom-client';

const NAME = 'marquee_http_request_duration_seconds';
const HELP = 'Request durations by operation.';
/** Upper bounds, in seconds. */
const BOUNDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

type Label = 'operation' | 'method' | 'status';

/** What was observed under one set of labels. */
interface Series {
  labels: Record<Label, string | number>;
  /** Of each bound, those that reached no further than it and further than the one before. */
  counts: number[];
  sum: number;
  count: number;
}

/**
 * A histogram whose values are found by their labels one after the other: prom-client checks and joins the names and
 * values of all labels for each observation, at some thirty times the cost.
 */
export class RequestDurations extends Histogram<Label> {
  readonly #byOperation = new Map<string, Map<string, Map<number, Series>>>();

  constructor(registers: Registry[]) {
    super({
      name: NAME,
      help: HELP,
      labelNames: ['operation', 'method', 'status'],
      buckets: BOUNDS,
      registers,
    });
  }

  note(operation: string, method: string, status: number, seconds: number): void {
    const series =
      this.#byOperation.get(operation)?.get(method)?.get(status) ?? this.#begin(operation, method, status);
    series.sum += seconds;
    series.count += 1;
    const index = BOUNDS.findIndex((bound) => seconds <= bound);
    if (index !== -1) series.counts[index] = (series.counts[index] ?? 0) + 1;
  }

  #begin(operation: string, method: string, status: number): Series {
    const labels = { operation, method, status };
    const series = { labels, counts: BOUNDS.map(() => 0), sum: 0, count: 0 };
    const byMethod = this.#byOperation.get(operation) ?? new Map<string, Map<number, Series>>();
    const byStatus = byMethod.get(method) ?? new Map<number, Series>();
    this.#byOperation.set(operation, byMethod.set(method, byStatus.set(status, series)));
    return series;
  }

  /** What the registry asks for at each look, and `get` too. */
  async getForPromString() {
    const all = [...this.#byOperation.values()].flatMap((byMethod) =>
      [...byMethod.values()].flatMap((byStatus) => [...byStatus.values()]),
    );
    return { name: NAME, help: HELP, type: 'histogram', values: all.flatMap(written), aggregator: 'sum' };
  }
}

/** The lines of one series: cumulative, as Prometheus has them. */
function written({ labels: sharedLabels, counts, sum, count }: Series) {
  let reached = 0;
  const buckets = BOUNDS.map((bound, index) => {
    reached += counts[index] ?? 0;
    return { labels: { le: bound }, value: reached, metricName: `${NAME}_bucket`, sharedLabels };
  });
  return [
    ...buckets,
    { labels: { le: '+Inf' }, value: count, metricName: `${NAME}_bucket`, sharedLabels },
    { labels: {}, value: sum, metricName: `${NAME}_sum`, sharedLabels },
    { labels: {}, value: count, metricName: `${NAME}_count`, sharedLabels },
  ];
}
