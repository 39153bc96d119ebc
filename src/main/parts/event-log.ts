import { createEventLog, eventLogRoutes } from '../../features/event-log/index.ts';
import type { Part } from '../part.ts';
import type { Base } from '../wiring.ts';

export function eventLogPart(base: Base): Part {
  const { config, cursors } = base;
  const eventLog = createEventLog({ ...base, livemode: config.LIVEMODE });
  return { routes: () => eventLogRoutes({ eventLog, cursors }) };
}
