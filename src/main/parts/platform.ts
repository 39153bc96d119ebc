import { maintainPartitions } from '../../events/partitions.ts';
import { giveBackJobs } from '../../jobs/worker.ts';
import type { JobUpkeep } from '../../platform/db/pgboss.ts';
import { EVERY, type Part } from '../part.ts';
import type { Base } from '../wiring.ts';

/** Until then there is nothing to care for, and to load the library would take a tenth of a second of each start. */
const UPKEEP_AFTER_MS = 60_000;

/** The care for what all features use: the tables of jobs and events, and stored responses. */
export function platformPart({ config, db, sql, clock, log, idempotency }: Base): Part {
  return {
    tasks: () => [
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
