/** Summary of a workspace in numbers (docs/concepts/usage.md#summary), and its stored counters. */
export { mergeCounterRows, recount, videoMs } from './repository.ts';
export { summaryRoutes } from './routes.ts';
