import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, badRequest } from '../kernel/errors.ts';

/** The media type of a session description (RFC 8866). */
export const SDP = 'application/sdp';
/** Candidates that were found after the offer (RFC 8840, section 9). */
const FRAGMENT = 'application/trickle-ice-sdpfrag';
const MAX_BYTES = 64 * 1024;
const UNSUPPORTED = 415;

interface SdpSessions {
  /** Below it lie the sessions, each by its token. */
  path: string;
  /** Action recommended instead of an ICE restart: `publish`. */
  verb: string;
  /** The client's own end. */
  end(token: string): Promise<void>;
  /**
   * Returns the ICE username fragments of the client (`a=ice-ufrag`).
   *
   * @throws {AppError} NOT_FOUND when there is no open session.
   */
  iceOf(token: string): Promise<readonly string[]>;
  /** Paths that accept offers. */
  endpoints: readonly string[];
  /** Declares what takes them there. */
  offers(scope: FastifyInstance): void;
}

type SessionRequest = FastifyRequest<{ Params: { token: string } }>;

/** Offers by HTTP and the sessions that they begin, as RFC 9725 has them for who publishes and WHEP for who watches. */
export function sdpSessions(sessions: SdpSessions): (app: FastifyInstance) => void {
  const { path, end, iceOf, endpoints, offers } = sessions;
  const session = `${path}/:token`;
  return (app) => {
    app.register(async (scope) => {
      takeAlone(scope, SDP, 'Accept-Post');
      offers(scope);
      // No representation is defined for them (RFC 9725, section 4.1).
      for (const url of endpoints) scope.get(url, (_request, reply) => reply.status(204).send());
      for (const url of endpoints) scope.options(url, (_request, reply) => reply.send());
    });
    app.register(async (scope) => {
      takeAlone(scope, FRAGMENT, 'Accept-Patch');
      scope.get(session, async (request: SessionRequest, reply) => {
        await iceOf(request.params.token);
        return reply.status(204).send();
      });
      scope.options(session, (_request, reply) => reply.send());
      scope.patch(session, (request: SessionRequest, reply) => trickle(sessions, request, reply));
    });
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      // Whatever comes is not looked at.
      scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
      scope.delete(session, async (request: SessionRequest, reply) => {
        await end(request.params.token);
        return reply.status(200).send();
      });
      for (const url of endpoints) refuse(scope, url, ['PUT', 'PATCH', 'DELETE'], 'GET, HEAD, POST, OPTIONS');
      refuse(scope, session, ['POST', 'PUT'], 'GET, HEAD, PATCH, DELETE, OPTIONS');
    });
  };
}

/**
 * Accepts bodies of only one type, announced to OPTIONS requests (RFC 5789, section 3.1) and in 415
 * responses.
 */
function takeAlone(scope: FastifyInstance, type: string, header: string): void {
  scope.removeAllContentTypeParsers();
  const parser = { parseAs: 'string', bodyLimit: MAX_BYTES } as const;
  scope.addContentTypeParser(type, parser, (_request, body, done) => done(null, body));
  scope.addHook('onSend', async ({ method }, reply) => {
    if (method === 'OPTIONS' || reply.statusCode === UNSUPPORTED) reply.header(header, type);
  });
}

function refuse(scope: FastifyInstance, url: string, method: string[], Allow: string): void {
  const handler = () => {
    throw new AppError('METHOD_NOT_ALLOWED', { headers: { Allow } });
  };
  scope.route({ method, url, handler });
}

/**
 * Candidates that come after the offer: taken, and not looked at, as those of the offer
 * (docs/decisions/whip.md#candidates). A new `a=ice-ufrag` is a restart (RFC 9725, section 4.3.3), for which there is 422.
 */
async function trickle({ iceOf, verb }: SdpSessions, request: SessionRequest, reply: FastifyReply) {
  const known = await iceOf(request.params.token);
  const lines = typeof request.body === 'string' ? request.body.split(/[\r\n]+/) : [];
  const given = lines.filter((line) => line !== '');
  if (given.length === 0 || !given.every((line) => /^[a-z]=\S/.test(line)))
    throw badRequest('body', 'The body must be an SDP fragment (RFC 8840).');
  const names = given.flatMap((line) => /^a=ice-ufrag:(.*)$/.exec(line)?.[1] ?? []);
  if (names.some((name) => !known.includes(name))) {
    const refusal = badRequest('body', `ICE restart is not supported: ${verb} again instead.`);
    return reply.status(422).send(refusal.body());
  }
  const { 'if-match': match = '*' } = request.headers;
  if (match.trim() !== '*') {
    const refusal = badRequest('If-Match', 'Sessions have no entity tag. Remove `If-Match`.');
    return reply.status(412).send(refusal.body());
  }
  return reply.status(204).send();
}

/** @throws {AppError} BAD_REQUEST for a body that is none. */
export function parseSdpOffer(body: unknown): string {
  if (typeof body !== 'string') throw badRequest('body', 'The body must be a session description (SDP).');
  return body;
}
