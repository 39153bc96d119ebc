/** What a workspace has, in numbers (docs/api/summary.md). */
export { summaryRoutes } from './routes.ts';
