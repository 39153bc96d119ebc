/**
 * Webhooks: registrations, and the engine that delivers events to them.
 *
 * Terminology: a *delivery* is one event on its way to one webhook; a *job* is a delivery that still has an
 * attempt to come; an *attempt* is one signed POST and one row of the delivery log.
 */

export { enqueueDeliveries } from './consumers.ts';
export { attemptsSince, oldestWaitSec } from './delivery/health.repository.ts';
export { releaseAllClaims } from './delivery/repository.ts';
export { renderDelivery } from './delivery/signature.ts';
export {
  createDeliveryWorker,
  type DeliveryConfig,
  type DeliveryMetrics,
  type DeliveryWorker,
} from './delivery/worker.ts';
export { webhookEvents } from './events.ts';
export { createFailureMonitor, type FailureMonitor } from './failing.service.ts';
export { webhookRoutes } from './routes.ts';
export { createWebhooks, type Webhooks } from './service.ts';
