import { createEventLog, eventLogRoutes } from '../../features/event-log/index.ts';
import type { FeatureModule } from '../part.ts';
import type { BaseContext } from '../wiring.ts';

export function eventLogPart(base: BaseContext): FeatureModule {
  const { config, cursors } = base;
  const eventLog = createEventLog({ ...base, livemode: config.LIVEMODE });
  return { routes: () => eventLogRoutes({ eventLog, cursors }) };
}
