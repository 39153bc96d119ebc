import { type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { Availability } from '../availability/index.ts';
import { createExternalCalendars } from './external.service.ts';
import { feedPage } from './feed.pages.ts';
import { createBookingFeed } from './feed.service.ts';
import { calendarRoutes } from './routes.ts';

export { calendar } from './busy.ts';

interface CalendarsDeps
  extends Pick<Platform, 'clock' | 'config' | 'cursors' | 'db' | 'fetcher' | 'log' | 'secrets'> {
  availability: Availability;
}

const POLL_MS = 20 * INTERVALS.second;

export function createCalendarsModule(deps: CalendarsDeps): FeatureModule {
  const { config, cursors } = deps;
  const feed = createBookingFeed({ ...deps, publicUrl: config.PUBLIC_URL });
  const externals = createExternalCalendars(deps);
  return {
    routes: () => calendarRoutes({ feed, externals, cursors }),
    pages: () => [feedPage(feed)],
    tasks: () => [{ name: 'external calendars', everyMs: POLL_MS, run: () => externals.readDue() }],
  };
}
