import { maintainPartitions } from '../../events/partitions.ts';
import { giveBackJobs } from '../../jobs/worker.ts';
import { purgeWindows } from '../../platform/db/counter-windows.ts';
import type { JobUpkeep } from '../../platform/db/pgboss.ts';
import { type DurableWindows, FLUSH_MS } from '../../platform/durable-windows.ts';
import { EVERY, type Part, type Service } from '../part.ts';
import type { Base } from '../wiring.ts';

/** Until then there is nothing to care for, and to load the library would take a tenth of a second of each start. */
const UPKEEP_AFTER_MS = 60_000;

/** The care for what all features use: the tables of jobs, events and counts, and stored responses. */
export function platformPart(base: Base): Part {
  const { config, db, sql, clock, log, idempotency, durableWindows } = base;
  return {
    tasks: () => [
      { name: 'counter windows', everyMs: EVERY.minute, run: () => purgeWindows(sql, clock.ms()) },
      {
        name: 'event partitions',
        everyMs: EVERY.hour,
        run: async () => {
          await maintainPartitions(sql, clock, config);
        },
      },
      {
        name: 'idempotency sweep',
        everyMs: EVERY.hour,
        run: async () => {
          await idempotency.sweep();
        },
      },
    ],
    services: {
      ...(durableWindows === null ? {} : { api: () => flushService(durableWindows) }),
      worker() {
        const failed = (error: unknown) => log.warn({ err: error }, 'the upkeep of jobs failed');
        let upkeep: Promise<JobUpkeep> | undefined;
        const timer = setTimeout(() => {
          upkeep = import('../../platform/db/pgboss.ts').then((boss) => boss.startJobUpkeep(sql, failed));
        }, UPKEEP_AFTER_MS);
        return {
          async leave() {
            clearTimeout(timer);
            await (await upkeep)?.stop();
          },
        };
      },
    },
    recover: { worker: () => giveBackJobs(db) },
  };
}

function flushService({ flush }: DurableWindows): Service {
  const timer = setInterval(() => void flush(), FLUSH_MS).unref();
  return { stop: async () => clearInterval(timer) };
}
