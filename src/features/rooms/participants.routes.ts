import Type from 'typebox';
import { requiresRead, requiresWrite } from '../../http/access.ts';
import { ListReader, listQuery } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { CommaList, IdParams, parseList } from '../../http/schema.ts';
import type { Caller } from '../../kernel/access.ts';
import type { CursorCodec } from '../../kernel/cursor.ts';
import { VALUES } from '../../platform/db/tables.generated.ts';
import type { RoomModeration } from './moderation.service.ts';
import { MuteIn, Participant, RemovedParticipant, toParticipant, toRemovedParticipant } from './schemas.ts';
import type { Rooms } from './service.ts';

const Id = IdParams('room', 'room');
const OnePerson = Type.Object({
  ...Id.properties,
  identity: Type.String({ description: 'As in the token.', examples: ['customer-17'] }),
});
const STATES = VALUES.room_participant.state;

interface Deps {
  rooms: Pick<Rooms, 'participants'>;
  moderation: RoomModeration;
  cursors: CursorCodec;
}

const placeOf = ({ workspaceId }: Caller, { id }: { id: string }) => ({ workspaceId, roomId: id });

/** Returns the routes for the participants of a room (docs/concepts/rooms.md#participants). */
export function participantRoutes({ rooms, moderation, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresRead('rooms:read'),
      operationId: 'rooms.participants',
      method: 'GET',
      path: '/rooms/{id}/participants',
      summary: 'List participants',
      description:
        'One row per stay, including participants who left. Use `state=ACTIVE` for current participants.',
      params: Id,
      query: listQuery({
        state: CommaList(STATES),
        identity: Type.Optional(Type.String({ description: 'Only participants with this identity.' })),
      }),
      reply: { status: 200, schema: Participant, list: true },
      async handler({ caller: { workspaceId } }, { params: { id }, query }) {
        const list = new ListReader(cursors, `room-participants:${id}`, query);
        const filter = { state: parseList('state', STATES, query.state), identity: query.identity };
        return list.page(await rooms.participants(workspaceId, id, filter, list.request), toParticipant);
      },
    }),
    defineRoute({
      ...requiresWrite('rooms:write'),
      operationId: 'rooms.kick',
      method: 'DELETE',
      path: '/rooms/{id}/participants/{identity}',
      summary: 'Remove a participant',
      description:
        'Also bans the identity from this room unless `ban=false`. Participants who already left can be banned too.',
      params: OnePerson,
      query: Type.Object({
        ban: Type.Boolean({ default: true, description: 'Whether to ban the participant from rejoining.' }),
      }),
      reply: { status: 200, schema: RemovedParticipant },
      async handler({ caller }, { params, query }) {
        await moderation.kick(placeOf(caller, params), params.identity, query.ban);
        return toRemovedParticipant(params.identity);
      },
    }),
    defineRoute({
      ...requiresWrite('rooms:write'),
      operationId: 'rooms.unban',
      method: 'DELETE',
      path: '/rooms/{id}/bans/{identity}',
      summary: 'Lift a room ban',
      description: 'The identity can get new tokens, and its existing tokens are valid again.',
      params: OnePerson,
      reply: { status: 200, schema: RemovedParticipant },
      async handler({ caller }, { params }) {
        await moderation.unban(placeOf(caller, params), params.identity);
        return toRemovedParticipant(params.identity);
      },
    }),
    ...personRoutes({ moderation }),
  ];
}

function personRoutes({ moderation }: Pick<Deps, 'moderation'>): Route[] {
  return [
    defineRoute({
      ...requiresWrite('rooms:write'),
      operationId: 'rooms.mute',
      method: 'POST',
      path: '/rooms/{id}/participants/{identity}/mute',
      summary: 'Mute a participant',
      description:
        'Stays in effect until it is lifted with `muted: false`; participants cannot unmute themselves.',
      params: OnePerson,
      body: MuteIn,
      reply: { status: 200, schema: Participant },
      handler: async ({ caller }, { params, body }) => {
        const { kind, muted = true } = body;
        return toParticipant(await moderation.mute(placeOf(caller, params), params.identity, kind, muted));
      },
    }),
    defineRoute({
      ...requiresWrite('rooms:write'),
      operationId: 'rooms.admit',
      method: 'POST',
      path: '/rooms/{id}/participants/{identity}/admit',
      summary: 'Admit a waiting participant',
      description: 'Returns 404 if the identity is not waiting and 409 if the room is full.',
      params: OnePerson,
      reply: { status: 200, schema: Participant },
      errors: ['CONFLICT'],
      handler: async ({ caller }, { params }) =>
        toParticipant(await moderation.admit(placeOf(caller, params), params.identity)),
    }),
    defineRoute({
      ...requiresWrite('rooms:write'),
      operationId: 'rooms.deny',
      method: 'POST',
      path: '/rooms/{id}/participants/{identity}/deny',
      summary: 'Reject a waiting participant',
      description: 'The person can ask again. Use kick to ban them.',
      params: OnePerson,
      reply: { status: 200, schema: RemovedParticipant },
      async handler({ caller }, { params }) {
        await moderation.deny(placeOf(caller, params), params.identity);
        return toRemovedParticipant(params.identity);
      },
    }),
  ];
}
