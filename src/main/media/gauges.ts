import type { MediaGauges } from '../../platform/metrics.ts';

/** Sum of the gauges of all media processes. */
export class MediaGaugesSum {
  readonly #gauges = new Map<number, MediaGauges>();
  /** Requests that ended processes have served. */
  readonly #servedBefore = new Map<string, number>();

  set(index: number, gauges: MediaGauges): void {
    this.#gauges.set(index, gauges);
  }

  /** Removes an ended process; the requests it has served remain counted. */
  delete(index: number): void {
    addCounts(this.#servedBefore, this.#gauges.get(index)?.served ?? {});
    this.#gauges.delete(index);
  }

  total(): MediaGauges {
    const all = [...this.#gauges.values()];
    const sum = (value: (gauges: MediaGauges) => number) => all.reduce((total, one) => total + value(one), 0);
    const served = new Map(this.#servedBefore);
    for (const one of all) addCounts(served, one.served);
    return {
      publishers: sum((one) => one.publishers),
      bitrateKbps: sum((one) => one.bitrateKbps),
      residentBytes: sum((one) => one.residentBytes),
      eventLoopDelay: {
        p99Ms: Math.max(0, ...all.map(({ eventLoopDelay }) => eventLoopDelay.p99Ms)),
        maxMs: Math.max(0, ...all.map(({ eventLoopDelay }) => eventLoopDelay.maxMs)),
      },
      served: Object.fromEntries(served),
    };
  }
}

function addCounts(counts: Map<string, number>, added: Readonly<Record<string, number>>): void {
  for (const [kind, count] of Object.entries(added)) counts.set(kind, (counts.get(kind) ?? 0) + count);
}
