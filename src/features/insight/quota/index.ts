/** Plan limits and their usage (docs/concepts/quota.md). */
export { quotaEvents } from './events.ts';
export { createQuotaNotifications, createQuotaSignals } from './quota-notifications.service.ts';
export { quotaRoutes } from './routes.ts';
export type { ResourceMeter } from './rules.ts';
export type { Heights } from './schemas.ts';
export { createQuota } from './service.ts';
