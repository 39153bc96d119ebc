import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError, badRequest } from '../kernel/errors.ts';

/** The media type of a session description (RFC 8866). */
export const SDP = 'application/sdp';
const MAX_BYTES = 64 * 1024;

interface SdpSessions {
  /** Below it lie the sessions, each by its token. */
  path: string;
  /** What to do instead of restarting ICE: `publish`. */
  verb: string;
  /** The client's own end. */
  end(token: string): Promise<void>;
  /** Where offers are taken. */
  endpoints: readonly string[];
  /** Declares what takes them there. */
  offers(scope: FastifyInstance): void;
}

type SessionRequest = FastifyRequest<{ Params: { token: string } }>;

/** Offers by HTTP and the sessions that they begin, as RFC 9725 has them for who publishes and WHEP for who watches. */
export function sdpSessions(sessions: SdpSessions): (app: FastifyInstance) => void {
  const { path, end, offers } = sessions;
  return (app) => {
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      const parser = { parseAs: 'string', bodyLimit: MAX_BYTES } as const;
      scope.addContentTypeParser(SDP, parser, (_request, body, done) => done(null, body));
      offers(scope);
      scope.delete(`${path}/:token`, async (request: SessionRequest, reply) => {
        await end(request.params.token);
        return reply.status(200).send();
      });
    });
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      // Whatever comes is refused alike.
      scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
      refuseOthers(scope, sessions);
    });
  };
}

/** What later versions of the protocol may give a meaning to (RFC 9725). */
function refuseOthers(scope: FastifyInstance, { path, verb, endpoints }: SdpSessions): void {
  const refuse = (url: string, method: string[], Allow: string, message?: string) => {
    const refusal = { headers: { Allow }, ...(message === undefined ? {} : { message }) };
    const handler = () => {
      throw new AppError('METHOD_NOT_ALLOWED', refusal);
    };
    scope.route({ method, url, exposeHeadRoute: false, handler });
  };
  for (const endpoint of endpoints) refuse(endpoint, ['GET', 'HEAD', 'PUT'], 'POST, OPTIONS');
  refuse(`${path}/:token`, ['GET', 'HEAD', 'POST', 'PUT'], 'DELETE, OPTIONS');
  const words = `Candidates stand in the answer, and ICE is not restarted: ${verb} anew instead.`;
  refuse(`${path}/:token`, ['PATCH'], 'DELETE', words);
}

/** @throws {AppError} BAD_REQUEST for a body that is none. */
export function offerIn(body: unknown): string {
  if (typeof body !== 'string') throw badRequest('body', 'The body is a session description (SDP).');
  return body;
}
