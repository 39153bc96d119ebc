import {
  createDeliveryWorker,
  createFailureMonitor,
  createWebhooks,
  enqueueDeliveries,
  type FailureMonitor,
  releaseAllClaims,
  type Webhooks,
  webhookRoutes,
} from '../../features/integration/webhooks/index.ts';
import { INTERVALS, type ModuleWithExports, type Service } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

interface Gives {
  webhooks: Webhooks;
  failureWatch: FailureMonitor;
}

export function webhooksPart(base: BaseContext): ModuleWithExports<Gives> {
  const { config, cursors, db, log } = base;
  const webhooks = createWebhooks({
    ...base,
    log,
    timeoutMs: config.WEBHOOK_TIMEOUT_MS,
  });
  const failureWatch = createFailureMonitor({ ...base, autoDisableDays: config.WEBHOOK_AUTO_DISABLE_DAYS });
  return {
    exports: { webhooks, failureWatch },
    module: {
      routes: () => webhookRoutes({ webhooks, cursors }),
      tasks: () => [{ name: 'failing webhooks', everyMs: INTERVALS.minute, run: () => failureWatch.run() }],
      consumers: [enqueueDeliveries],
      services: { worker: () => startDeliveries(base) },
      recover: { worker: () => releaseAllClaims(db) },
    },
  };
}

function startDeliveries(base: BaseContext): Service {
  const { config, log, metrics } = base;
  const deliveries = createDeliveryWorker({
    ...base,
    log,
    config: { retrySeconds: config.WEBHOOK_RETRY_SECONDS, timeoutMs: config.WEBHOOK_TIMEOUT_MS },
    metrics: {
      attempt: (status, latencyMs) => metrics.delivery(status, (latencyMs ?? 0) / 1000),
      lost: (count) => metrics.deliveriesLost(count),
    },
  });
  deliveries.start();
  return deliveries;
}
