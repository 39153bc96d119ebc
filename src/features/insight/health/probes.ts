import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Probe } from './readiness.service.ts';
import * as repository from './repository.ts';

/** Components that decide whether the platform serves requests. */
export interface HealthProbes {
  database(): Promise<boolean>;
  /** Reports whether the media process runs, or this node has none. */
  media(): boolean;
}

/** Maximum wait of an unclaimed delivery; longer means missing or too few workers. */
const WAIT_MAX_SEC = 60;
const ATTEMPTS_MS = 300_000;
/** Minimum receivers for a verdict: one or two failing ones do not indicate a problem here. */
const RECEIVERS_MIN = 3;

/** Health of webhook deliveries. */
export interface DeliveryHealth {
  /** Returns how long the oldest due delivery has waited, ignoring webhooks with a delivery in progress. */
  oldestWaitSec(db: Db): Promise<number>;
  /** Returns how many webhooks were attempted since then, and how many of them responded. */
  attemptsSince(db: Db, since: Date): Promise<{ tried: number; answered: number }>;
}

/** Returns the probes that read the database. */
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
    /** Reports the delivery of webhooks; an error status counts as delivered. */
    async webhooks() {
      const since = dateFromMs(clock.ms() - ATTEMPTS_MS);
      const { tried, answered } = await deliveries.attemptsSince(db, since);
      return tried >= RECEIVERS_MIN && answered === 0 ? 'DEGRADED' : 'OK';
    },
  };
}

/** Minimum interval between provider checks, because providers count calls. It is shorter after a failure. */
const PROVIDERS_MS = 60_000;
const PROVIDERS_AGAIN_MS = 10_000;

/** @param options.ping resolves when every payment provider is available. */
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
