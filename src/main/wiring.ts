import { createCatalogue } from '../events/catalogue.ts';
import { createEvents, type EventConsumer } from '../events/index.ts';
import { createUsageEvents } from '../features/insight/usage-events/module.ts';
import type { Declarations, FeatureModule } from '../features/module.ts';
import type { Platform } from '../features/platform.ts';
import { createJobQueue } from '../jobs/queue.ts';
import type { Ports } from './ports.ts';

/**
 * Services through which features communicate without depending on each other: events, jobs and usage events.
 */
type Wiring = Pick<Platform, 'catalogue' | 'events' | 'facts' | 'jobs'>;

/**
 * Creates the wiring in a fixed order, because modules need `events`, and `events` needs the catalog of all
 * modules and their consumers: the declarations, which have no dependencies, form the catalog and the queue;
 * the modules are created with them; `connect` adds their consumers. No event may be appended before.
 */
export function createWiring(
  ports: Ports,
  { declared, strict }: { declared: readonly Declarations[]; strict: boolean },
): Wiring & { connect(modules: readonly FeatureModule[]): void } {
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
        if (!isConnected) throw new Error('events were used before all modules are connected');
        return events.transaction(work);
      },
    },
    connect(modules) {
      consumers.push(...modules.flatMap((module) => module.consumers ?? []));
      isConnected = true;
    },
  };
}
