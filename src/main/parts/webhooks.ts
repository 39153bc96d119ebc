import {
  createDeliveryWorker,
  createFailureWatch,
  createWebhooks,
  enqueueDeliveries,
  type FailureWatch,
  releaseAbandoned,
  type Webhooks,
  webhookRoutes,
} from '../../features/webhooks/index.ts';
import { type Built, EVERY, type Service } from '../part.ts';
import type { Base } from '../wiring.ts';

interface Gives {
  webhooks: Webhooks;
  failureWatch: FailureWatch;
}

export function webhooksPart(base: Base): Built<Gives> {
  const { config, cursors, db, log } = base;
  const webhooks = createWebhooks({
    ...base,
    log,
    timeoutMs: config.WEBHOOK_TIMEOUT_MS,
  });
  const failureWatch = createFailureWatch({ ...base, autoDisableDays: config.WEBHOOK_AUTO_DISABLE_DAYS });
  return {
    gives: { webhooks, failureWatch },
    part: {
      routes: () => webhookRoutes({ webhooks, cursors }),
      tasks: () => [{ name: 'failing webhooks', everyMs: EVERY.minute, run: () => failureWatch.run() }],
      consumers: [enqueueDeliveries],
      services: { worker: () => startDeliveries(base) },
      recover: { worker: () => releaseAbandoned(db) },
    },
  };
}

function startDeliveries(base: Base): Service {
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
