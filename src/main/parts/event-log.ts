import { createEventLog, eventLogRoutes } from '../../features/integration/event-log/index.ts';
import type { FeatureModule } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

export function eventLogPart(base: BaseContext): FeatureModule {
  const { config, cursors } = base;
  const eventLog = createEventLog({ ...base, livemode: config.LIVEMODE });
  return { routes: () => eventLogRoutes({ eventLog, cursors }) };
}
