/** Platform usage: requests, bytes, minutes (docs/concepts/usage.md). */
export type { UsageReader } from './service.ts';
export type { UsageAggregator } from './usage-aggregator.ts';
