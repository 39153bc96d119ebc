import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Probe } from './readiness.service.ts';
import * as repository from './repository.ts';

/** The parts that decide whether the platform serves. */
export interface HealthProbes {
  database(): Promise<boolean>;
  /** The media role's process runs, or this node has none. */
  media(): boolean;
}

/** A delivery that nobody has taken for so long shows that workers are missing or too few. */
const WAIT_MAX_SEC = 60;
const ATTEMPTS_MS = 300_000;
/** One or two receivers that are gone say nothing about us. */
const RECEIVERS_MIN = 3;

/** How deliveries get on. */
export interface DeliveryHealth {
  /** How long the longest waiting delivery has been due while nobody has any of its webhook in hand. */
  oldestWaitSec(db: Db): Promise<number>;
  /** How many webhooks were tried of late, and how many of them answered at all. */
  attemptsSince(db: Db, since: Date): Promise<{ tried: number; answered: number }>;
}

/** The probes of what is seen in the database. */
export function databaseProbes({
  db,
  clock,
  deliveries,
}: {
  db: Db;
  clock: Clock;
  deliveries: DeliveryHealth;
}): {
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
      return (await deliveries.oldestWaitSec(db)) > WAIT_MAX_SEC ? 'DEGRADED' : 'OK';
    },
    /** An error status is an answer: what counts is whether the deliveries get out. */
    async webhooks() {
      const since = dateFromMs(clock.ms() - ATTEMPTS_MS);
      const { tried, answered } = await deliveries.attemptsSince(db, since);
      return tried >= RECEIVERS_MIN && answered === 0 ? 'DEGRADED' : 'OK';
    },
  };
}

/** Providers are asked so seldom, however often we are: they count calls. After a failure it is sooner. */
const PROVIDERS_MS = 60_000;
const PROVIDERS_AGAIN_MS = 10_000;

/** @param options.ping resolves where every provider of payments can be asked. */
export function paymentsProbe({ clock, ping }: { clock: Clock; ping(): Promise<void> }): Probe {
  let last: { until: number; answer: Promise<void> } | null = null;
  return async () => {
    const now = clock.ms();
    if (last === null || now >= last.until) {
      const asked = { until: now + PROVIDERS_MS, answer: ping() };
      asked.answer.catch(() => {
        asked.until = now + PROVIDERS_AGAIN_MS;
      });
      last = asked;
    }
    await last.answer;
    return 'OK';
  };
}
