import type { Clock } from '../../../kernel/clock.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { QUARTER_MS } from '../../../kernel/durations.ts';
import type { UsageEvent, UsageEvents } from '../usage-events/index.ts';

const PAUSE_MS = 1000;
/** Maximum distinct counters in memory; more of them are flushed early. */
const MAX_COUNTERS = 5000;

/** Usage event whose amounts can be summed. */
export type Count = Pick<UsageEvent, 'kind' | 'workspaceId' | 'subjectId' | 'keyId' | 'status'> & {
  amount: number;
};

/**
 * Aggregator of frequent events, which records one usage event per kind: a killed process loses at most the
 * last second or two (docs/decisions/usage.md#batched-counting).
 */
export interface UsageAggregator {
  /** Adds a count; never waits and never fails. */
  add(count: Count): void;
  /** Records the aggregated counters. */
  flush(): void;
}

interface Deps {
  clock: Clock;
  facts: Pick<UsageEvents, 'record'>;
}

export function createUsageAggregator({ clock, facts }: Deps): UsageAggregator {
  const gathered = new Map<string, Count & { at: Date }>();
  let timer: NodeJS.Timeout | undefined;

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    for (const fact of gathered.values()) facts.record(fact);
    gathered.clear();
  };
  return {
    add(count) {
      const nowMs = clock.ms();
      // Rollups use quarter-hours, so a counter does not cross one.
      const quarter = Math.floor(nowMs / QUARTER_MS);
      const { kind, workspaceId, subjectId = '', keyId = '', status = '' } = count;
      const name = `${kind}/${workspaceId}/${subjectId}/${keyId}/${status}/${quarter}`;
      const known = gathered.get(name);
      if (known === undefined) gathered.set(name, { ...count, at: dateFromMs(nowMs) });
      else known.amount += count.amount;
      if (gathered.size >= MAX_COUNTERS) flush();
      else timer ??= setTimeout(flush, PAUSE_MS).unref();
    },
    flush,
  };
}
