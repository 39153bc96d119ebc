import Type from 'typebox';
import { reads, writes } from '../../http/access.ts';
import { ListReader, listQuery } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { CommaList, IdParams, parseList } from '../../http/schema.ts';
import type { Caller } from '../../kernel/access.ts';
import type { CursorCodec } from '../../kernel/cursor.ts';
import { VALUES } from '../../platform/db/tables.generated.ts';
import type { RoomModeration } from './moderation.service.ts';
import { Gone, MuteIn, Participant, toGone, toParticipant } from './schemas.ts';
import type { Rooms } from './service.ts';

const Id = IdParams('room', 'room');
const OnePerson = Type.Object({
  ...Id.properties,
  identity: Type.String({ description: 'As their token has it.', examples: ['customer-17'] }),
});
const STATES = VALUES.room_participant.state;

interface Deps {
  rooms: Pick<Rooms, 'participants'>;
  moderation: RoomModeration;
  cursors: CursorCodec;
}

const placeOf = ({ workspaceId }: Caller, { id }: { id: string }) => ({ workspaceId, roomId: id });

/** Who is in a room (docs/concepts/rooms.md#participants). */
export function participantRoutes({ rooms, moderation, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...reads('rooms:read'),
      operationId: 'rooms.participants',
      method: 'GET',
      path: '/rooms/{id}/participants',
      summary: 'List the participants of a room',
      description:
        'One row for each stay, those who have left included; `state=ACTIVE` has who is there now.',
      params: Id,
      query: listQuery({
        state: CommaList(STATES),
        identity: Type.Optional(Type.String({ description: 'Those of one identity.' })),
      }),
      reply: { status: 200, schema: Participant, list: true },
      async handler({ caller: { workspaceId } }, { params: { id }, query }) {
        const list = new ListReader(cursors, `room-participants:${id}`, query);
        const filter = { state: parseList('state', STATES, query.state), identity: query.identity };
        return list.page(await rooms.participants(workspaceId, id, filter, list.request), toParticipant);
      },
    }),
    defineRoute({
      ...writes('rooms:write'),
      operationId: 'rooms.kick',
      method: 'DELETE',
      path: '/rooms/{id}/participants/{identity}',
      summary: 'Remove a participant',
      description:
        'And ban the identity from this room, unless `ban=false`. Also one that has left can be banned.',
      params: OnePerson,
      query: Type.Object({ ban: Type.Boolean({ default: true, description: 'They may not come back.' }) }),
      reply: { status: 200, schema: Gone },
      async handler({ caller }, { params, query }) {
        await moderation.kick(placeOf(caller, params), params.identity, query.ban);
        return toGone(params.identity);
      },
    }),
    defineRoute({
      ...writes('rooms:write'),
      operationId: 'rooms.unban',
      method: 'DELETE',
      path: '/rooms/{id}/bans/{identity}',
      summary: 'Lift the ban of an identity',
      description: 'It can have tokens again, and those that it has are good again.',
      params: OnePerson,
      reply: { status: 200, schema: Gone },
      async handler({ caller }, { params }) {
        await moderation.unban(placeOf(caller, params), params.identity);
        return toGone(params.identity);
      },
    }),
    ...personRoutes({ moderation }),
  ];
}

function personRoutes({ moderation }: Pick<Deps, 'moderation'>): Route[] {
  return [
    defineRoute({
      ...writes('rooms:write'),
      operationId: 'rooms.mute',
      method: 'POST',
      path: '/rooms/{id}/participants/{identity}/mute',
      summary: 'Mute a participant',
      description: 'Until `muted: false` lifts it: they cannot lift it themselves.',
      params: OnePerson,
      body: MuteIn,
      reply: { status: 200, schema: Participant },
      handler: async ({ caller }, { params, body }) => {
        const { kind, muted = true } = body;
        return toParticipant(await moderation.mute(placeOf(caller, params), params.identity, kind, muted));
      },
    }),
    defineRoute({
      ...writes('rooms:write'),
      operationId: 'rooms.admit',
      method: 'POST',
      path: '/rooms/{id}/participants/{identity}/admit',
      summary: 'Let somebody in from the waiting room',
      description: '404 when nobody of that identity waits, 409 when the room is full.',
      params: OnePerson,
      reply: { status: 200, schema: Participant },
      errors: ['CONFLICT'],
      handler: async ({ caller }, { params }) =>
        toParticipant(await moderation.admit(placeOf(caller, params), params.identity)),
    }),
    defineRoute({
      ...writes('rooms:write'),
      operationId: 'rooms.deny',
      method: 'POST',
      path: '/rooms/{id}/participants/{identity}/deny',
      summary: 'Turn somebody in the waiting room away',
      description: 'They may ask again; remove them to ban them.',
      params: OnePerson,
      reply: { status: 200, schema: Gone },
      async handler({ caller }, { params }) {
        await moderation.deny(placeOf(caller, params), params.identity);
        return toGone(params.identity);
      },
    }),
  ];
}
