/** What was counted of content, and what it says (docs/concepts/analytics.md). */
export { createAnalyticsConsumers } from './consumers.ts';
export { createFinanceReads } from './finance.service.ts';
export { createReads } from './reads.service.ts';
export { analyticsRoutes } from './routes.ts';
export { createSums } from './sums.service.ts';
