import { type Clock, dateFromMs } from '../../kernel/clock.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Probe } from './readiness.service.ts';
import * as repository from './repository.ts';

/** A delivery that nobody has taken for so long shows that workers are missing or too few. */
const WAIT_MAX_SEC = 60;
const ATTEMPTS_MS = 300_000;
/** One or two receivers that are gone say nothing about us. */
const RECEIVERS_MIN = 3;

/** The probes of what is seen in the database. */
export function databaseProbes({ db, clock }: { db: Db; clock: Clock }): {
  database: Probe;
  queue: Probe;
  webhooks: Probe;
} {
  return {
    async database() {
      await repository.ping(db);
      return 'OK';
    },
    async queue() {
      return (await repository.oldestWaitSec(db)) > WAIT_MAX_SEC ? 'DEGRADED' : 'OK';
    },
    /** An error status is an answer: what counts is whether the deliveries get out. */
    async webhooks() {
      const since = dateFromMs(clock.ms() - ATTEMPTS_MS);
      const { tried, answered } = await repository.attemptsSince(db, since);
      return tried >= RECEIVERS_MIN && answered === 0 ? 'DEGRADED' : 'OK';
    },
  };
}
