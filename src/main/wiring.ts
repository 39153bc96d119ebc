import { createCatalogue, type EventCatalogue } from '../events/catalogue.ts';
import { createEvents, type EventConsumer, type Events } from '../events/index.ts';
import { createUsageEvents, type UsageEvents } from '../features/insight/usage-events/index.ts';
import { createJobQueue, type Jobs } from '../jobs/queue.ts';
import type { Declarations, FeatureModule } from './feature-module.ts';
import type { Ports } from './ports.ts';

/**
 * Services through which features communicate without depending on each other: events, jobs and usage events.
 */
export interface Wiring {
  catalogue: EventCatalogue;
  events: Events;
  jobs: Jobs;
  /** Usage events; closed after all modules. */
  facts: UsageEvents;
}

/**
 * Creates the wiring in a fixed order, because modules need `events`, and `events` needs the catalog of all
 * modules and their consumers: the declarations, which have no dependencies, form the catalog and the queue;
 * the modules are built with them; `connect` adds the consumers of the modules. No event may be appended
 * before.
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

/** Context available before any feature; every feature may build on it. */
export type BaseContext = Ports & Wiring;
