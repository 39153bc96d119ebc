/** Content analytics (docs/concepts/analytics.md). */
export { createAnalyticsConsumers } from './consumers.ts';
export { createFinanceAnalytics } from './finance.service.ts';
export { createAnalyticsQueries } from './reads.service.ts';
export { createRollups } from './rollups.service.ts';
export { analyticsRoutes } from './routes.ts';
