/**
 * The workspace's own events, `/me/events`: the last 30 days, and those to come.
 *
 * Terminology: a *tail* is an open connection that is shown events as they happen.
 */
import type { FeatureModule } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import { eventLogRoutes } from './routes.ts';
import { createEventLog } from './service.ts';

interface EventLogDeps
  extends Pick<Platform, 'bus' | 'catalogue' | 'clock' | 'config' | 'cursors' | 'db' | 'log'> {}

export function createEventLogModule(deps: EventLogDeps): FeatureModule {
  const { config, cursors } = deps;
  const eventLog = createEventLog({ ...deps, livemode: config.LIVEMODE });
  return { routes: () => eventLogRoutes({ eventLog, cursors }) };
}
