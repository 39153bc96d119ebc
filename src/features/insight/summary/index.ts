/** Summary of a workspace in numbers (docs/concepts/usage.md#summary), and its stored counters. */
export type { videoMs } from './repository.ts';
