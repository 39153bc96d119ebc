import { type Declarations, type FeatureModule, INTERVALS, type Service } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import { enqueueDeliveries } from './consumers.ts';
import { releaseAllClaims } from './delivery/repository.ts';
import { createDeliveryWorker } from './delivery/worker.ts';
import { webhookEvents } from './events.ts';
import { createFailureMonitor, type FailureMonitor } from './failing.service.ts';
import { webhookRoutes } from './routes.ts';
import { createWebhooks, type Webhooks } from './service.ts';

export { attemptsSince, oldestWaitSec } from './delivery/health.repository.ts';
export { renderDelivery } from './delivery/signature.ts';

export const webhooksDeclarations: Declarations = { events: webhookEvents };

interface WebhooksDeps
  extends Pick<
    Platform,
    | 'bus'
    | 'catalogue'
    | 'clock'
    | 'config'
    | 'cursors'
    | 'db'
    | 'events'
    | 'facts'
    | 'log'
    | 'metrics'
    | 'outbound'
    | 'secrets'
  > {}

interface WebhooksExports {
  webhooks: Webhooks;
  failureMonitor: FailureMonitor;
}

export function createWebhooksModule(deps: WebhooksDeps): FeatureModule & WebhooksExports {
  const { config, cursors, db } = deps;
  const webhooks = createWebhooks({
    ...deps,
    timeoutMs: config.WEBHOOK_TIMEOUT_MS,
  });
  const failureMonitor = createFailureMonitor({ ...deps, autoDisableDays: config.WEBHOOK_AUTO_DISABLE_DAYS });
  return {
    webhooks,
    failureMonitor,
    routes: () => webhookRoutes({ webhooks, cursors }),
    tasks: () => [{ name: 'failing webhooks', everyMs: INTERVALS.minute, run: () => failureMonitor.run() }],
    consumers: [enqueueDeliveries],
    services: { worker: () => startDeliveries(deps) },
    recover: { worker: () => releaseAllClaims(db) },
  };
}

function startDeliveries(deps: WebhooksDeps): Service {
  const { config, metrics } = deps;
  const deliveries = createDeliveryWorker({
    ...deps,
    config: { retrySeconds: config.WEBHOOK_RETRY_SECONDS, timeoutMs: config.WEBHOOK_TIMEOUT_MS },
    metrics: {
      attempt: (status, latencyMs) => metrics.delivery(status, (latencyMs ?? 0) / 1000),
      lost: (count) => metrics.deliveriesLost(count),
    },
  });
  deliveries.start();
  return deliveries;
}
