import Type from 'typebox';
import { requiresRead, requiresWrite } from '../../../http/access.ts';
import type { EventStreamHandler } from '../../../http/event-stream.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Limit, type Route } from '../../../http/route.ts';
import { Deleted, IdParams, PathId } from '../../../http/schema.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import type { StreamTails } from '../stream-tails/index.ts';
import type { Streams } from '../streams/index.ts';
import { toBan, toMessage } from './messages.ts';
import { BanIn, ChatBan, ChatCleared, ChatMessage, MessageIn } from './schemas.ts';
import type { Chat } from './service.ts';

const Id = IdParams('str', 'stream');
const MessageId = Type.Object({ ...Id.properties, messageId: PathId('msg', 'message') });
const BanId = Type.Object({ ...Id.properties, banId: PathId('ban', 'ban') });
const path = '/streams/{id}/chat';
const MAX_ROWS = 200;
const lastEventId = Type.Optional(
  Type.String({ description: 'Equivalent of the Last-Event-ID header, for clients that cannot set it.' }),
);

/** docs/concepts/chat.md#limits. The minute comes first: while both are used up, its end is the nearer one. */
const POSTS: readonly Limit[] = [
  { bucket: 'chat', per: 'key', param: 'id', max: 60, windowSec: 60, refusal: 'RATE_LIMITED' },
  { bucket: 'chat-day', per: 'key', param: 'id', max: 1000, windowSec: 'day', refusal: 'RATE_LIMITED' },
];

interface Deps {
  chat: Chat;
  streams: Pick<Streams, 'get'>;
  tails: Pick<StreamTails, 'follow'>;
  cursors: CursorCodec;
}

/** `/streams/{id}/chat` (docs/concepts/chat.md). */
export function chatRoutes(deps: Deps): Route[] {
  return [...messageRoutes(deps), ...tailRoutes(deps), ...banRoutes(deps)];
}

function messageRoutes({ chat }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresWrite('chat:write'),
      operationId: 'chat.post',
      method: 'POST',
      path,
      summary: 'Post a chat message',
      description:
        'Posts as the creator of the stream. Returns CONFLICT while the chat is disabled. Slow mode does not apply to API keys.',
      limits: POSTS,
      params: Id,
      body: MessageIn,
      reply: { status: 201, schema: ChatMessage },
      errors: ['CONFLICT'],
      async handler({ caller: { workspaceId, accountId } }, { params, body }) {
        const where = { streamId: params.id, workspaceId };
        return toMessage(await chat.post(where, { kind: 'creator', accountId }, body));
      },
    }),
    defineRoute({
      ...requiresWrite('chat:write'),
      operationId: 'chat.clear',
      method: 'DELETE',
      path,
      summary: 'Delete all chat messages',
      description: 'Connected clients are notified. Bans are unchanged.',
      params: Id,
      reply: { status: 200, schema: ChatCleared },
      async handler({ caller }, { params }) {
        const before = await chat.clear(caller.workspaceId, params.id);
        return { streamId: params.id, before: before.toISOString() };
      },
    }),
    defineRoute({
      ...requiresWrite('chat:write'),
      operationId: 'chat.delete',
      method: 'DELETE',
      path: `${path}/{messageId}`,
      summary: 'Delete a chat message',
      description: 'Connected clients are notified.',
      params: MessageId,
      reply: { status: 200, schema: Deleted },
      async handler({ caller }, { params: { id, messageId } }) {
        await chat.remove(caller.workspaceId, id, messageId);
        return { id: messageId, deleted: true };
      },
    }),
  ];
}

function tailRoutes({ chat, streams, tails, cursors }: Deps): Route[] {
  /** @throws {AppError} NOT_FOUND before the tail opens. */
  const open = async (workspaceId: string, id: string): Promise<EventStreamHandler> => {
    const { created_at: createdAt } = await streams.get(workspaceId, id);
    return (out) => tails.follow({ streamId: id, createdAt, name: 'chat', logs: ['CHAT'], states: [] }, out);
  };
  const filters = {
    since: Type.Optional(
      Type.String({ maxLength: 64, description: 'Only messages after this `eventId` or timestamp.' }),
    ),
    lastEventId,
  };
  return [
    defineRoute({
      ...requiresRead('chat:read'),
      operationId: 'chat.list',
      method: 'GET',
      path,
      summary: 'List or stream chat messages',
      description: 'Returns JSON, or server-sent events with `Accept: text/event-stream`.',
      params: Id,
      query: listQuery(filters, MAX_ROWS),
      reply: { status: 200, schema: ChatMessage, list: true, tail: ChatMessage },
      async handler({ caller: { workspaceId }, acceptsEventStream }, { params, query }) {
        if (acceptsEventStream) return open(workspaceId, params.id);
        const list = new ListReader(cursors, `chat:${params.id}`, query);
        const shown = await chat.list(workspaceId, params.id, list.request, query.since);
        return list.page(
          shown.map((one) => ({ ...one, id: String(one.row.seq) })),
          toMessage,
        );
      },
    }),
    defineRoute({
      ...requiresRead('chat:read'),
      operationId: 'chat.tail',
      method: 'GET',
      path: `${path}/tail`,
      summary: 'Stream chat messages',
      description:
        'Equivalent to `GET /streams/{id}/chat` with `Accept: text/event-stream`, for clients that cannot set headers.',
      params: Id,
      query: Type.Object({ lastEventId }),
      reply: { status: 200, schema: ChatMessage, envelope: 'events' },
      handler: ({ caller }, { params }) => open(caller.workspaceId, params.id),
    }),
  ];
}

function banRoutes({ chat, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresWrite('chat:write'),
      operationId: 'chat.ban',
      method: 'POST',
      path: `${path}/bans`,
      summary: 'Ban a chat author',
      description:
        'Banning a banned author updates the end of the ban. Returns CONFLICT at 1,000 bans per stream.',
      params: Id,
      body: BanIn,
      reply: { status: 201, schema: ChatBan },
      errors: ['CONFLICT'],
      handler: async ({ caller }, { params, body: { authorId, seconds = null } }) =>
        toBan(await chat.ban(caller.workspaceId, params.id, authorId, seconds)),
    }),
    defineRoute({
      ...requiresRead('chat:read'),
      operationId: 'chat.bans',
      method: 'GET',
      path: `${path}/bans`,
      summary: 'List active chat bans',
      description: 'Includes the author and end of each ban.',
      params: Id,
      query: listQuery({}),
      reply: { status: 200, schema: ChatBan, list: true },
      async handler({ caller: { workspaceId } }, { params, query }) {
        const list = new ListReader(cursors, `chat-bans:${params.id}`, query);
        return list.page(await chat.bans(workspaceId, params.id, list.request), toBan);
      },
    }),
    defineRoute({
      ...requiresWrite('chat:write'),
      operationId: 'chat.unban',
      method: 'DELETE',
      path: `${path}/bans/{banId}`,
      summary: 'Lift a chat ban',
      description: 'The author can post again immediately.',
      params: BanId,
      reply: { status: 200, schema: Deleted },
      async handler({ caller }, { params: { id, banId } }) {
        await chat.unban(caller.workspaceId, id, banId);
        return { id: banId, deleted: true };
      },
    }),
  ];
}
