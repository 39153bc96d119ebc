/** What a workspace has, in numbers (docs/concepts/usage.md#summary), and the counts that are kept for it. */
export { mergeCounterRows, recount, videoMs } from './repository.ts';
export { summaryRoutes } from './routes.ts';
