import { maintainPartitions } from '../events/partitions.ts';
import { type FeatureModule, INTERVALS, type Service } from '../features/module.ts';
import type { Platform } from '../features/platform.ts';
import { requeueRunning } from '../jobs/worker.ts';
import { purgeWindows } from '../platform/db/counter-windows.ts';
import { type DurableWindows, FLUSH_MS } from '../platform/durable-windows.ts';

/** Maintains the tables that all features use: events, counters and stored responses; running jobs at a restart. */
export function createMaintenanceModule(
  platform: Pick<Platform, 'clock' | 'config' | 'db' | 'durableWindows' | 'idempotency' | 'sql'>,
): FeatureModule {
  const { config, db, sql, clock, idempotency, durableWindows } = platform;
  return {
    tasks: () => [
      { name: 'counter windows', everyMs: INTERVALS.minute, run: () => purgeWindows(sql, clock.ms()) },
      {
        name: 'event partitions',
        everyMs: INTERVALS.hour,
        run: async () => {
          await maintainPartitions(sql, clock, config);
        },
      },
      {
        name: 'idempotency sweep',
        everyMs: INTERVALS.hour,
        run: async () => {
          await idempotency.sweep();
        },
      },
    ],
    services: durableWindows === null ? {} : { api: () => flushService(durableWindows) },
    recover: { worker: () => requeueRunning(db) },
  };
}

function flushService({ flush }: DurableWindows): Service {
  const timer = setInterval(() => void flush(), FLUSH_MS).unref();
  return { stop: async () => clearInterval(timer) };
}
