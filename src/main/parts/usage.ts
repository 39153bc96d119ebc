import {
  createStorageGauge,
  createTally,
  createUsageReader,
  type Tally,
  type UsageReader,
  usageRoutes,
} from '../../features/usage/index.ts';
import { type Built, EVERY } from '../part.ts';
import type { Base } from '../wiring.ts';

interface Gives {
  tally: Tally;
  usage: UsageReader;
}

export function usagePart(base: Base): Built<Gives> {
  const tally = createTally(base);
  const usage = createUsageReader(base);
  const gauge = createStorageGauge(base);
  return {
    gives: { tally, usage },
    part: {
      routes: () => usageRoutes({ usage, cursors: base.cursors }),
      tasks: () => [{ name: 'stored bytes', everyMs: EVERY.minute, run: () => gauge.run() }],
      close: () => tally.flush(),
    },
  };
}
