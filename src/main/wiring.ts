import { createCatalogue, type EventCatalogue } from '../events/catalogue.ts';
import { createEvents, type EventConsumer, type Events } from '../events/index.ts';
import { createUsageEvents, type UsageEvents } from '../features/insight/usage-events/index.ts';
import { createJobQueue, type Jobs } from '../jobs/queue.ts';
import type { Declarations, FeatureModule } from './feature-module.ts';
import type { Ports } from './ports.ts';

/** What features reach each other by without knowing each other: events, jobs and facts. */
export interface Wiring {
  catalogue: EventCatalogue;
  events: Events;
  jobs: Jobs;
  /** What is counted; closed after all parts. */
  facts: UsageEvents;
}

/**
 * Parts need `events`, and `events` needs the catalogue of all parts and their consumers. So it is done in this
 * order, and nowhere else: declarations, which need nothing, make the catalogue and the queue; with them the parts
 * are built; `connect` takes the consumers of the parts. Nothing may be appended before.
 */
export function createWiring(
  ports: Ports,
  { declared, strict }: { declared: readonly Declarations[]; strict: boolean },
): Wiring & { connect(parts: readonly FeatureModule[]): void } {
  const { db, config, clock, bus, log, metrics } = ports;
  const catalogue = createCatalogue(declared.flatMap(({ events = [] }) => events));
  const jobs = createJobQueue({ bus, definitions: declared.flatMap((one) => one.jobs ?? []) });
  const facts = createUsageEvents({ db, clock, log, onRowsDropped: metrics.factsLost });
  const consumers: EventConsumer[] = [];
  let isConnected = false;
  const events = createEvents({
    db,
    catalogue,
    livemode: config.LIVEMODE,
    clock,
    bus,
    consumers,
    log,
    strict,
    onRefused: metrics.eventRefused,
    onCommitted: jobs.committed,
  });
  return {
    catalogue,
    jobs,
    facts,
    events: {
      transaction(work) {
        if (!isConnected) throw new Error('the parts are not connected yet');
        return events.transaction(work);
      },
    },
    connect(parts) {
      consumers.push(...parts.flatMap((part) => part.consumers ?? []));
      isConnected = true;
    },
  };
}

/** What there is before any feature: what every one of them may build on. */
export type BaseContext = Ports & Wiring;
