import { requiresRead, requiresWrite } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { Deleted, IdParams } from '../../../http/schema.ts';
import { mayWrite } from '../../../kernel/access.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import type { ExternalCalendars } from './external.service.ts';
import type { BookingFeed } from './feed.service.ts';
import { External, ExternalIn, Feed, toExternal, toFeed } from './schemas.ts';

const Id = IdParams('cal', 'calendar');

interface Deps {
  feed: BookingFeed;
  externals: ExternalCalendars;
  cursors: CursorCodec;
}

/** `/booking/feed` and `/booking/calendars` (docs/concepts/booking-calendars.md). */
export function calendarRoutes(deps: Deps): Route[] {
  return [...feedRoutes(deps), ...externalRoutes(deps)];
}

function externalRoutes({ externals, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresWrite('booking:write'),
      operationId: 'calendars.create',
      method: 'POST',
      path: '/booking/calendars',
      summary: 'Add an external calendar',
      description: 'Its events block time. It is fetched within a minute and then every 15 minutes.',
      body: ExternalIn,
      reply: { status: 201, schema: External },
      errors: ['CONFLICT'],
      handler: async ({ caller }, { body }) =>
        toExternal(await externals.add(caller.workspaceId, body), caller.mode),
    }),
    defineRoute({
      ...requiresRead('booking:read'),
      operationId: 'calendars.list',
      method: 'GET',
      path: '/booking/calendars',
      summary: 'List external calendars',
      description: 'Includes the result of the last fetch. Newest first.',
      query: listQuery({}),
      reply: { status: 200, schema: External, list: true },
      async handler({ caller: { workspaceId, mode } }, { query }) {
        const list = new ListReader(cursors, `calendars:${workspaceId}`, query);
        return list.page(await externals.list(workspaceId, list.request), (row) => toExternal(row, mode));
      },
    }),
    defineRoute({
      ...requiresRead('booking:read'),
      operationId: 'calendars.get',
      method: 'GET',
      path: '/booking/calendars/{id}',
      summary: 'Get an external calendar',
      description: 'Includes the result of the last fetch.',
      params: Id,
      reply: { status: 200, schema: External },
      handler: async ({ caller }, { params }) =>
        toExternal(await externals.get(caller.workspaceId, params.id), caller.mode),
    }),
    defineRoute({
      ...requiresWrite('booking:write'),
      operationId: 'calendars.delete',
      method: 'DELETE',
      path: '/booking/calendars/{id}',
      summary: 'Remove an external calendar',
      description: 'Its events no longer block time.',
      params: Id,
      reply: { status: 200, schema: Deleted },
      async handler({ caller }, { params: { id } }) {
        await externals.remove(caller.workspaceId, id);
        return { id, deleted: true as const };
      },
    }),
  ];
}

function feedRoutes({ feed }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresRead('booking:read'),
      operationId: 'calendars.feed',
      method: 'GET',
      path: '/booking/feed',
      summary: 'Get the booking calendar feed',
      description:
        'Null if there is no feed. `url`, which gives anyone read access to the bookings, is null for read-only keys.',
      reply: { status: 200, schema: Feed },
      async handler({ caller }) {
        const { url, createdAt } = await feed.address(caller.workspaceId);
        return toFeed({ url: mayWrite(caller, 'booking:write') ? url : null, createdAt });
      },
    }),
    defineRoute({
      ...requiresWrite('booking:write'),
      operationId: 'calendars.rotateFeed',
      method: 'POST',
      path: '/booking/feed/rotate',
      summary: 'Rotate the calendar feed URL',
      description: 'The previous URL stops working immediately.',
      reply: { status: 200, schema: Feed },
      handler: async ({ caller }) => toFeed(await feed.rotate(caller.workspaceId)),
    }),
    defineRoute({
      ...requiresWrite('booking:write'),
      operationId: 'calendars.deleteFeed',
      method: 'DELETE',
      path: '/booking/feed',
      summary: 'Delete the booking calendar feed',
      description: 'Subscribers of the feed get 404 from now on.',
      reply: { status: 200, schema: Feed },
      async handler({ caller }) {
        await feed.remove(caller.workspaceId);
        return toFeed({ url: null, createdAt: null });
      },
    }),
  ];
}
