import { type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import { usageRoutes } from './routes.ts';
import { createUsageReader, type UsageReader } from './service.ts';
import { createStorageSampler } from './storage.service.ts';
import { createUsageAggregator, type UsageAggregator } from './usage-aggregator.ts';

interface UsageDeps extends Pick<Platform, 'clock' | 'cursors' | 'db' | 'facts'> {}

interface UsageExports {
  tally: UsageAggregator;
  usage: UsageReader;
}

export function createUsageModule(deps: UsageDeps): FeatureModule & UsageExports {
  const tally = createUsageAggregator(deps);
  const usage = createUsageReader(deps);
  const gauge = createStorageSampler(deps);
  return {
    tally,
    usage,
    routes: () => usageRoutes({ usage, cursors: deps.cursors }),
    tasks: () => [{ name: 'storage samples', everyMs: INTERVALS.minute, run: () => gauge.run() }],
    close: () => tally.flush(),
  };
}
