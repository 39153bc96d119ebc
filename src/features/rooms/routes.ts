import { reads, writes } from '../../http/access.ts';
import { ListReader, listQuery } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { CommaList, Deleted, IdParams, parseList } from '../../http/schema.ts';
import type { CursorCodec } from '../../kernel/cursor.ts';
import { HOUR_SEC } from '../../kernel/durations.ts';
import { VALUES } from '../../platform/db/tables.generated.ts';
import type { RoomModeration } from './moderation.service.ts';
import { participantRoutes } from './participants.routes.ts';
import {
  joinUrlOf,
  RecordingIn,
  Room,
  RoomIn,
  RoomPatch,
  serverUrlOf,
  Token,
  TokenIn,
  toRoom,
} from './schemas.ts';
import { grantOf, type Rooms } from './service.ts';

const Id = IdParams('room', 'room');

interface Deps {
  rooms: Rooms;
  moderation: RoomModeration;
  cursors: CursorCodec;
  /** Without a slash at the end. */
  publicUrl: string;
}

/** `/rooms` (docs/concepts/rooms.md). */
export function roomRoutes(deps: Deps): Route[] {
  return [...wholeRoutes(deps), ...actionRoutes(deps), ...participantRoutes(deps)];
}

function wholeRoutes({ rooms, cursors, publicUrl }: Deps): Route[] {
  return [
    defineRoute({
      ...writes('rooms:write'),
      operationId: 'rooms.create',
      method: 'POST',
      path: '/rooms',
      summary: 'Create a room',
      description: 'It is there until it ends; who may come is said by tokens. `expiresAt` is in the future.',
      idempotent: true,
      body: RoomIn,
      reply: { status: 201, schema: Room },
      errors: ['QUOTA_EXCEEDED'],
      handler: async ({ caller }, { body }) =>
        toRoom(await rooms.create(caller.workspaceId, body), caller.mode, publicUrl),
    }),
    defineRoute({
      ...reads('rooms:read'),
      operationId: 'rooms.list',
      method: 'GET',
      path: '/rooms',
      summary: 'List rooms',
      description: 'With how many people are in each of them.',
      query: listQuery({ status: CommaList(VALUES.room.status) }),
      reply: { status: 200, schema: Room, list: true },
      async handler({ caller: { workspaceId, mode } }, { query }) {
        const list = new ListReader(cursors, `rooms:${workspaceId}`, query);
        const filter = { status: parseList('status', VALUES.room.status, query.status) };
        const rows = await rooms.list(workspaceId, filter, list.request);
        const placed = rows.map((shown) => ({ id: shown.row.id, shown }));
        return list.page(placed, ({ shown }) => toRoom(shown, mode, publicUrl));
      },
    }),
    defineRoute({
      ...reads('rooms:read'),
      operationId: 'rooms.get',
      method: 'GET',
      path: '/rooms/{id}',
      summary: 'Get a room',
      description: 'Its settings, its state, and how many people are in it.',
      params: Id,
      reply: { status: 200, schema: Room },
      handler: async ({ caller }, { params }) =>
        toRoom(await rooms.get(caller.workspaceId, params.id), caller.mode, publicUrl),
    }),
    defineRoute({
      ...writes('rooms:write'),
      operationId: 'rooms.update',
      method: 'PATCH',
      path: '/rooms/{id}',
      summary: 'Change a room',
      description:
        'Also while people are in it; nobody is sent away by that. `recordEnabled: false` ends its recording. Not when it has ended.',
      params: Id,
      body: RoomPatch,
      reply: { status: 200, schema: Room },
      errors: ['QUOTA_EXCEEDED', 'CONFLICT'],
      handler: async ({ caller }, { params, body }) =>
        toRoom(await rooms.update(caller.workspaceId, params.id, body), caller.mode, publicUrl),
    }),
    defineRoute({
      ...writes('rooms:write'),
      operationId: 'rooms.delete',
      method: 'DELETE',
      path: '/rooms/{id}',
      summary: 'Delete a room',
      description: 'It ends for whoever is in it; who was there is forgotten.',
      params: Id,
      reply: { status: 200, schema: Deleted },
      async handler({ caller }, { params }) {
        await rooms.remove(caller.workspaceId, params.id);
        return { id: params.id, deleted: true };
      },
    }),
  ];
}

function actionRoutes({ rooms, publicUrl }: Deps): Route[] {
  const place = (workspaceId: string, roomId: string) => ({ workspaceId, roomId });
  return [
    defineRoute({
      ...writes('rooms:write'),
      operationId: 'rooms.createToken',
      method: 'POST',
      path: '/rooms/{id}/tokens',
      summary: 'Let somebody into a room',
      description:
        'A token for one person: it is good for coming in until it expires, and then for as long as they stay. 409 for an identity that is banned.',
      params: Id,
      body: TokenIn,
      reply: { status: 201, schema: Token },
      errors: ['CONFLICT'],
      async handler({ caller }, { params: { id }, body }) {
        const grant = grantOf(body);
        const { token, expiresAt } = await rooms.mint(
          place(caller.workspaceId, id),
          grant,
          body.ttlSec ?? HOUR_SEC,
        );
        return {
          token,
          url: `${joinUrlOf(publicUrl, id)}#token=${token}`,
          serverUrl: serverUrlOf(publicUrl, id),
          expiresAt: expiresAt.toISOString(),
          identity: grant.identity,
          role: grant.role,
        };
      },
    }),
    defineRoute({
      ...writes('rooms:write'),
      operationId: 'rooms.end',
      method: 'POST',
      path: '/rooms/{id}/end',
      summary: 'End a room',
      description:
        'For good: whoever is in it is let go, and nobody can come any more. Repeats change nothing.',
      params: Id,
      reply: { status: 200, schema: Room },
      handler: async ({ caller }, { params }) => {
        const ended = await rooms.end(place(caller.workspaceId, params.id));
        return toRoom(ended, caller.mode, publicUrl);
      },
    }),
    defineRoute({
      ...writes('rooms:write'),
      operationId: 'rooms.startRecording',
      method: 'POST',
      path: '/rooms/{id}/recording/start',
      summary: 'Record a room',
      description:
        'Whoever is in it is told. 409 when nobody is there, without `recordEnabled`, and where the platform cannot record; 403 where the storage of the plan is full. `layout` is that of the room unless given; repeats change nothing.',
      params: Id,
      body: RecordingIn,
      optionalBody: true,
      reply: { status: 200, schema: Room },
      errors: ['CONFLICT', 'QUOTA_EXCEEDED'],
      handler: async ({ caller: { workspaceId, mode } }, { params, body }) =>
        toRoom(await rooms.record(place(workspaceId, params.id), true, body.layout), mode, publicUrl),
    }),
    defineRoute({
      ...writes('rooms:write'),
      operationId: 'rooms.stopRecording',
      method: 'POST',
      path: '/rooms/{id}/recording/stop',
      summary: 'Stop recording a room',
      description: 'A video is made of what was recorded. Repeats change nothing.',
      params: Id,
      reply: { status: 200, schema: Room },
      handler: async ({ caller: { workspaceId, mode } }, { params }) =>
        toRoom(await rooms.record(place(workspaceId, params.id), false), mode, publicUrl),
    }),
  ];
}
