/** Platform usage: requests, bytes, minutes (docs/concepts/usage.md). */
export { usageRoutes } from './routes.ts';
export { createUsageReader, type UsageReader } from './service.ts';
export { createStorageSampler } from './storage.service.ts';
export { createUsageAggregator, type UsageAggregator } from './usage-aggregator.ts';
