import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { limitByIp } from '../../http/plugins/limits.ts';
import type { Limit } from '../../http/route.ts';
import type { SameOriginCheck } from '../../http/same-origin.ts';
import { compileInput } from '../../http/validation.ts';
import { AppError, notFound } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { Counter } from '../../platform/counters.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { signToken, verifyToken } from '../../platform/signed-token.ts';
import { serverUrlOf } from './schemas.ts';
import type { Rooms } from './service.ts';

interface Deps {
  rooms: Pick<Rooms, 'face' | 'mint'>;
  secrets: Pick<Secrets, 'sign' | 'verify'>;
  caps(windowSec: number | 'day'): Counter;
  isOwnOrigin: SameOriginCheck;
  /** URL without a trailing slash. */
  publicUrl: string;
}

type OfRoom = FastifyRequest<{ Params: { roomId: string } }>;

const TOKENS: Limit = { bucket: 'room-join', per: 'ip', max: 30, windowSec: 600, refusal: 'RATE_LIMITED' };
/** Lifetime of a token for joining; people in the room stay. */
const TTL_SEC = 600;
const COOKIE = 'room_guest';
const COOKIE_SEC = 30 * 86_400;
const PURPOSE = 'room guest';
const readBody = compileInput(Type.Object({ name: Type.String({ minLength: 1, maxLength: 80 }) }), 'body');

/**
 * Registers `POST /r/:roomId/token {name}` for the join page, outside the base URL: a token for a guest with
 * the URL of a room, who waits until a host admits them (docs/decisions/rooms.md#tokens).
 */
export function roomJoinPage(deps: Deps): (app: FastifyInstance) => void {
  const { rooms, secrets, caps, isOwnOrigin, publicUrl } = deps;
  const attributes = `HttpOnly; SameSite=Strict${publicUrl.startsWith('https:') ? '; Secure' : ''}`;
  return (app) => {
    app.post('/r/:roomId/token', async (request: OfRoom, reply) => {
      if (!isOwnOrigin(request.headers)) throw new AppError('CSRF_REJECTED');
      await limitByIp({ counters: { window: caps } }, TOKENS, request.ip);
      const { roomId } = request.params;
      const name = readBody(request.body).name.replaceAll(/\s+/gu, ' ').trim();
      if ((await rooms.face(roomId)) === undefined) throw notFound();
      const identity = guestOf(secrets, request) ?? newId('gst');
      const grant = { identity, name, role: 'SPEAKER', permissions: {}, isGuest: true } as const;
      const place = { workspaceId: null, roomId };
      const { token, expiresAt } = await rooms.mint(place, grant, TTL_SEC);
      const kept = signToken(secrets, PURPOSE, { head: identity, of: roomId });
      return reply
        .status(201)
        .header('Cache-Control', 'no-store')
        .header('Set-Cookie', `${COOKIE}=${kept}; Path=/r/${roomId}; Max-Age=${COOKIE_SEC}; ${attributes}`)
        .send({
          success: true,
          data: {
            token,
            serverUrl: serverUrlOf(publicUrl, roomId),
            expiresAt: expiresAt.toISOString(),
            identity,
            name,
            role: 'SPEAKER',
          },
        });
    });
  };
}

/** Returns the previous guest identity of this browser in the room. */
function guestOf(secrets: Deps['secrets'], { headers, params }: OfRoom): string | null {
  const kept = new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w.-]+)`).exec(headers.cookie ?? '')?.[1];
  return kept === undefined ? null : verifyToken(secrets, PURPOSE, { text: kept, of: params.roomId });
}
