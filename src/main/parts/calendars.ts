import {
  calendarRoutes,
  createBookingFeed,
  createExternalCalendars,
  feedPage,
} from '../../features/calendars/index.ts';
import type { Noun } from '../core.ts';
import { EVERY } from '../part.ts';

const LOOK_MS = 20 * EVERY.second;

export const calendars: Noun = {
  build(core) {
    const { config, cursors } = core;
    const feed = createBookingFeed({ ...core, publicUrl: config.PUBLIC_URL });
    const externals = createExternalCalendars(core);
    return {
      routes: () => calendarRoutes({ feed, externals, cursors }),
      pages: () => [feedPage(feed)],
      tasks: () => [{ name: 'external calendars', everyMs: LOOK_MS, run: () => externals.readDue() }],
    };
  },
};
