import { requiresRead, requiresWrite } from '../../http/access.ts';
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
  /** URL without a trailing slash. */
  publicUrl: string;
}

/** `/rooms` (docs/concepts/rooms.md). */
export function roomRoutes(deps: Deps): Route[] {
  return [...wholeRoutes(deps), ...actionRoutes(deps), ...participantRoutes(deps)];
}

function wholeRoutes({ rooms, cursors, publicUrl }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresWrite('rooms:write'),
      operationId: 'rooms.create',
      method: 'POST',
      path: '/rooms',
      summary: 'Create a room',
      description:
        'A room exists until it ends. Access is granted with tokens. `expiresAt` must be in the future.',
      idempotent: true,
      body: RoomIn,
      reply: { status: 201, schema: Room },
      errors: ['QUOTA_EXCEEDED'],
      handler: async ({ caller }, { body }) =>
        toRoom(await rooms.create(caller.workspaceId, body), caller.mode, publicUrl),
    }),
    defineRoute({
      ...requiresRead('rooms:read'),
      operationId: 'rooms.list',
      method: 'GET',
      path: '/rooms',
      summary: 'List rooms',
      description: 'Includes the number of participants in each room.',
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
      ...requiresRead('rooms:read'),
      operationId: 'rooms.get',
      method: 'GET',
      path: '/rooms/{id}',
      summary: 'Get a room',
      description: 'Includes settings, status and the number of participants.',
      params: Id,
      reply: { status: 200, schema: Room },
      handler: async ({ caller }, { params }) =>
        toRoom(await rooms.get(caller.workspaceId, params.id), caller.mode, publicUrl),
    }),
    defineRoute({
      ...requiresWrite('rooms:write'),
      operationId: 'rooms.update',
      method: 'PATCH',
      path: '/rooms/{id}',
      summary: 'Update a room',
      description:
        'Can be changed while the room is in use; no participant is removed. `recordEnabled: false` stops the recording. Not allowed after the room has ended.',
      params: Id,
      body: RoomPatch,
      reply: { status: 200, schema: Room },
      errors: ['QUOTA_EXCEEDED', 'CONFLICT'],
      handler: async ({ caller }, { params, body }) =>
        toRoom(await rooms.update(caller.workspaceId, params.id, body), caller.mode, publicUrl),
    }),
    defineRoute({
      ...requiresWrite('rooms:write'),
      operationId: 'rooms.delete',
      method: 'DELETE',
      path: '/rooms/{id}',
      summary: 'Delete a room',
      description: 'Ends the room for all participants and deletes its participant records.',
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
      ...requiresWrite('rooms:write'),
      operationId: 'rooms.createToken',
      method: 'POST',
      path: '/rooms/{id}/tokens',
      summary: 'Create a join token',
      description:
        'Creates a token for one person, valid for joining until it expires and then for the rest of their stay. Returns 409 for a banned identity.',
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
      ...requiresWrite('rooms:write'),
      operationId: 'rooms.end',
      method: 'POST',
      path: '/rooms/{id}/end',
      summary: 'End a room',
      description: 'Permanent: disconnects all participants and prevents anyone from joining. Idempotent.',
      params: Id,
      reply: { status: 200, schema: Room },
      handler: async ({ caller }, { params }) => {
        const ended = await rooms.end(place(caller.workspaceId, params.id));
        return toRoom(ended, caller.mode, publicUrl);
      },
    }),
    defineRoute({
      ...requiresWrite('rooms:write'),
      operationId: 'rooms.startRecording',
      method: 'POST',
      path: '/rooms/{id}/recording/start',
      summary: 'Start recording a room',
      description:
        "Participants are notified. Returns 409 when the room is empty, `recordEnabled` is false or recording is not available, and 403 when the plan's storage is full. `layout` defaults to the room's layout. Idempotent.",
      params: Id,
      body: RecordingIn,
      optionalBody: true,
      reply: { status: 200, schema: Room },
      errors: ['CONFLICT', 'QUOTA_EXCEEDED'],
      handler: async ({ caller: { workspaceId, mode } }, { params, body }) =>
        toRoom(await rooms.record(place(workspaceId, params.id), true, body.layout), mode, publicUrl),
    }),
    defineRoute({
      ...requiresWrite('rooms:write'),
      operationId: 'rooms.stopRecording',
      method: 'POST',
      path: '/rooms/{id}/recording/stop',
      summary: 'Stop recording a room',
      description: 'Creates a video from the recording. Idempotent.',
      params: Id,
      reply: { status: 200, schema: Room },
      handler: async ({ caller: { workspaceId, mode } }, { params }) =>
        toRoom(await rooms.record(place(workspaceId, params.id), false), mode, publicUrl),
    }),
  ];
}
