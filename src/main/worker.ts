import { maintainPartitions } from '../events/partitions.ts';
import { createDeliveryWorker } from '../features/webhooks/index.ts';
import { startSchedule } from '../jobs/schedule.ts';
import type { Container } from './container.ts';

const SWEEP_MS = 500;
const HOUR_MS = 3_600_000;

/** The worker role: webhook deliveries, and what time does to streams and partitions. */
export function startWorker(container: Container): { stop(): Promise<void> } {
  const { sql, clock, log, signals, config, metrics } = container;
  const deliveries = createDeliveryWorker({
    ...container,
    logger: log,
    config: { retrySeconds: config.WEBHOOK_RETRY_SECONDS, timeoutMs: config.WEBHOOK_TIMEOUT_MS },
    metrics: {
      attempt: (status, latencyMs) => metrics.delivery(status, (latencyMs ?? 0) / 1000),
      lost: (count) => metrics.deliveriesLost(count),
    },
  });
  deliveries.start();
  const schedule = startSchedule(
    [
      { name: 'stream sweep', everyMs: SWEEP_MS, run: () => signals.sweep() },
      {
        name: 'event partitions',
        everyMs: HOUR_MS,
        run: async () => {
          await maintainPartitions(sql, clock);
        },
      },
    ],
    log,
  );
  return {
    async stop() {
      await Promise.all([schedule.stop(), deliveries.stop()]);
    },
  };
}
