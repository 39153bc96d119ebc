import { calendarRoutes, createBookingFeed, feedPage } from '../../features/calendars/index.ts';
import type { Noun } from '../core.ts';

export const calendars: Noun = {
  build(core) {
    const feed = createBookingFeed({ ...core, publicUrl: core.config.PUBLIC_URL });
    return { routes: () => calendarRoutes({ feed }), pages: () => [feedPage(feed)] };
  },
};
