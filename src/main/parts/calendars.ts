import {
  calendarRoutes,
  createBookingFeed,
  createExternalCalendars,
  feedPage,
} from '../../features/booking/calendars/index.ts';
import type { OptionalModule } from '../core.ts';
import { INTERVALS } from '../feature-module.ts';

const POLL_MS = 20 * INTERVALS.second;

export const calendars: OptionalModule = {
  build(core) {
    const { config, cursors } = core;
    const feed = createBookingFeed({ ...core, publicUrl: config.PUBLIC_URL });
    const externals = createExternalCalendars(core);
    return {
      routes: () => calendarRoutes({ feed, externals, cursors }),
      pages: () => [feedPage(feed)],
      tasks: () => [{ name: 'external calendars', everyMs: POLL_MS, run: () => externals.readDue() }],
    };
  },
};
