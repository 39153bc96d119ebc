import {
  createStorageSampler,
  createUsageAggregator,
  createUsageReader,
  type UsageAggregator,
  type UsageReader,
  usageRoutes,
} from '../../features/insight/usage/index.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

interface Gives {
  tally: UsageAggregator;
  usage: UsageReader;
}

export function usagePart(base: BaseContext): ModuleWithExports<Gives> {
  const tally = createUsageAggregator(base);
  const usage = createUsageReader(base);
  const gauge = createStorageSampler(base);
  return {
    exports: { tally, usage },
    module: {
      routes: () => usageRoutes({ usage, cursors: base.cursors }),
      tasks: () => [{ name: 'stored bytes', everyMs: INTERVALS.minute, run: () => gauge.run() }],
      close: () => tally.flush(),
    },
  };
}
