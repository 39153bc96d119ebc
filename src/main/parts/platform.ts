import { maintainPartitions } from '../../events/partitions.ts';
import { giveBackJobs } from '../../jobs/worker.ts';
import { startJobUpkeep } from '../../platform/db/pgboss.ts';
import { EVERY, type Part } from '../part.ts';
import type { Base } from '../wiring.ts';

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
        const upkeep = startJobUpkeep(sql, (error) => log.warn({ err: error }, 'the upkeep of jobs failed'));
        return { leave: () => upkeep.stop() };
      },
    },
    recover: { worker: () => giveBackJobs(db) },
  };
}
