import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { clientInfoOf } from '../../../http/client-info.ts';
import { limitByIp } from '../../../http/plugins/limits.ts';
import type { Limit } from '../../../http/route.ts';
import { compileInput } from '../../../http/validation.ts';
import { createConcurrencyLimiter } from '../../../kernel/cache.ts';
import { AppError, badRequest, notFound, tooManyRequests } from '../../../kernel/errors.ts';
import { ipBlock } from '../../../kernel/ip-block.ts';
import { type Counter, counterKey } from '../../../platform/counters.ts';
import type { AccessRequest, Viewer } from '../../audience/playback/index.ts';
import type { StreamTails } from '../stream-tails/index.ts';
import type { GuestSessions } from './guests.ts';
import { toMessage } from './messages.ts';
import { NAME_MAX, parseGuestName, type RestrictedMode } from './rules.ts';
import { MessageIn } from './schemas.ts';
import type { Chat, ChatSnapshot } from './service.ts';

interface Deps {
  chat: Pick<Chat, 'post' | 'refuseName'>;
  /** Source of the first content of a page, at most half a second old. */
  recent: { get(streamId: string): Promise<ChatSnapshot | undefined> };
  guests: GuestSessions;
  tails: Pick<StreamTails, 'follow'>;
  /** Reports whether this visitor may see the stream, by the rules of playback. */
  admits(streamId: string, viewer: Viewer): Promise<boolean>;
  /** Returns the restricted modes in which this visitor may write. */
  entitledModes(streamId: string, asking: AccessRequest): Promise<RestrictedMode[]>;
  caps(windowSec: number | 'day'): Counter;
}

type OfStream = FastifyRequest<{ Params: { streamId: string }; Querystring: { token?: string } }>;

const NAMES: Limit = {
  bucket: 'chat-guest',
  per: 'ip',
  max: 60,
  windowSec: 3600,
  refusal: 'RATE_LIMITED',
};
/** Limit for all guests of one IP address. */
const ADDRESS_POSTS: Limit = {
  bucket: 'chat-address',
  per: 'ip',
  max: 120,
  windowSec: 60,
  refusal: 'RATE_LIMITED',
};
const GUEST_POSTS = 20;
/** Maximum open connections of this process; a page that gets none polls instead. */
const MAX_OPEN = 20_000;
const MAX_OPEN_PER_ADDRESS = 30;
const RETRY_MS = 60_000;

const readName = compileInput(
  Type.Object({
    name: Type.String({ maxLength: 200 }),
    session: Type.Optional(Type.String({ maxLength: 400 })),
  }),
  'body',
);
const readPost = compileInput(
  Type.Object({ ...MessageIn.properties, session: Type.String({ maxLength: 400 }) }),
  'body',
);

/** Returns the viewer of a page request. */
function viewerOf(request: OfStream): Viewer {
  return { token: request.query.token, asking: request };
}

/**
 * Registers the chat of a stream for visitors of its page, outside the base URL
 * (docs/decisions/chat.md#guests): `GET /live/:streamId/chat` and `…/chat/events` read, `POST …/chat/guest`
 * sets a name, `POST …/chat` writes.
 */
export function guestChatPages(deps: Deps): (app: FastifyInstance) => void {
  const { chat, recent, guests, caps } = deps;
  const counters = { window: caps };
  const admit = async (request: OfStream) => {
    const { streamId } = request.params;
    if (!(await deps.admits(streamId, viewerOf(request)))) throw notFound();
    const found = await recent.get(streamId);
    if (!found?.isOpen) throw notFound();
    return found;
  };
  const limiter = createConcurrencyLimiter({ all: MAX_OPEN, each: MAX_OPEN_PER_ADDRESS });
  return (app) => {
    app.get('/live/:streamId/chat', async (request: OfStream, reply) => {
      const { createdAt: _createdAt, isOpen: _isOpen, messages, ...rest } = await admit(request);
      const { cookie, 'x-user-token': userToken } = request.headers;
      const isPublic = [request.query.token, cookie, userToken].every((proof) => proof === undefined);
      reply.header('Cache-Control', isPublic ? 'public, max-age=1' : 'no-store');
      return { success: true, data: { ...rest, messages: messages.map(toMessage) } };
    });
    app.get('/live/:streamId/chat/events', async (request: OfStream, reply) => {
      const { createdAt } = await admit(request);
      const check = async () => {
        if (!(await deps.admits(request.params.streamId, viewerOf(request))))
          throw new AppError('PERMISSION_DENIED');
      };
      const leave = limiter.acquire(ipBlock(request.ip));
      if (leave === null) throw tooManyRequests('RATE_LIMITED', RETRY_MS);
      try {
        const options = { streamId: request.params.streamId, createdAt, name: 'chat' };
        await app.eventStreams.open({ request, reply, places: [], check, ended: 'SESSION_ENDED' }, (out) =>
          deps.tails.follow({ ...options, logs: ['CHAT'], states: [] }, out),
        );
      } finally {
        leave();
      }
      return reply;
    });
    app.post('/live/:streamId/chat/guest', async (request: OfStream, reply: FastifyReply) => {
      await admit(request);
      await limitByIp({ counters }, NAMES, request.ip);
      const { streamId } = request.params;
      const body = readName(request.body);
      const name = parseGuestName(body.name);
      if (name === null) throw badRequest('name', `The name must have 1 to ${NAME_MAX} characters.`);
      await chat.refuseName(streamId, name);
      const known = body.session === undefined ? null : guests.read(streamId, body.session);
      const { session, guest } = guests.mint(streamId, name, known?.id);
      return send(reply, { session, author: { id: guest.id, displayName: guest.name } });
    });
    app.post('/live/:streamId/chat', async (request: OfStream, reply: FastifyReply) => {
      const { settings } = await admit(request);
      const { streamId } = request.params;
      const { session, ...input } = readPost(request.body);
      const guest = guests.read(streamId, session);
      if (guest === null) throw badRequest('session', 'Enter your name first.');
      await limitByIp({ counters }, ADDRESS_POSTS, request.ip);
      const { count, resetInMs } = await caps(60).hit(counterKey(`chat-guest-posts:${guest.id}`));
      if (count > GUEST_POSTS) throw tooManyRequests('RATE_LIMITED', resetInMs);
      // The settings may be half a second old; the decisive check of the mode happens under the lock.
      const entitledModes = settings.chatMode === 'OPEN' ? [] : await deps.entitledModes(streamId, request);
      const poster = { kind: 'guest', ...guest, entitledModes, visit: clientInfoOf(request) } as const;
      const shown = await chat.post({ streamId, workspaceId: null }, poster, input);
      return send(reply, toMessage(shown));
    });
  };
}

function send(reply: FastifyReply, data: object): FastifyReply {
  return reply.status(201).header('Cache-Control', 'no-store').send({ success: true, data });
}
