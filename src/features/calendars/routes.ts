import { reads, writes } from '../../http/access.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import type { BookingFeed } from './feed.service.ts';
import { Feed, toFeed } from './schemas.ts';

interface Deps {
  feed: BookingFeed;
}

/** `/booking/feed` (docs/api/booking-calendars.md). */
export function calendarRoutes({ feed }: Deps): Route[] {
  return [
    defineRoute({
      ...reads('booking:read'),
      operationId: 'calendars.feed',
      method: 'GET',
      path: '/booking/feed',
      summary: 'Get the address of your bookings as a calendar',
      description: 'Null while there is none.',
      reply: { status: 200, schema: Feed },
      handler: async ({ caller }) => toFeed(await feed.address(caller.workspaceId)),
    }),
    defineRoute({
      ...writes('booking:write'),
      operationId: 'calendars.rotateFeed',
      method: 'POST',
      path: '/booking/feed/rotate',
      summary: 'Make a new address of your bookings as a calendar',
      description: 'The address before, if there is one, ends at once.',
      reply: { status: 200, schema: Feed },
      handler: async ({ caller }) => toFeed(await feed.rotate(caller.workspaceId)),
    }),
    defineRoute({
      ...writes('booking:write'),
      operationId: 'calendars.deleteFeed',
      method: 'DELETE',
      path: '/booking/feed',
      summary: 'End the address of your bookings as a calendar',
      description: 'Whoever subscribed to it is answered 404 from now on.',
      reply: { status: 200, schema: Feed },
      async handler({ caller }) {
        await feed.remove(caller.workspaceId);
        return toFeed({ url: null, createdAt: null });
      },
    }),
  ];
}
