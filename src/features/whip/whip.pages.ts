import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { bearerOf } from '../../http/bearer.ts';
import { AppError, badRequest } from '../../kernel/errors.ts';
import type { IceServer } from './ice-links.ts';
import { iceLinks } from './ice-links.ts';
import { unauthorised, type Whip } from './service.ts';

const SDP = 'application/sdp';
const MAX_BYTES = 64 * 1024;
const EXPOSED = 'Location, Link, X-SVC-Request-Id, Retry-After';

interface Deps {
  whip: Whip;
  /** Servers that help a client through firewalls. */
  iceServers(): IceServer[];
}

type KeyRequest = FastifyRequest<{ Params: { token?: string } }>;
type SessionRequest = FastifyRequest<{ Params: { token: string } }>;

/**
 * `POST /whip` and `POST /whip/{streamKey}`, where an encoder publishes by WebRTC (RFC 9725), and its session at
 * `/whip/sessions/{token}` (docs/api/whip.md).
 */
export function whipPages({ whip, iceServers }: Deps): (app: FastifyInstance) => void {
  const publish = async (request: KeyRequest, reply: FastifyReply) => {
    const { body, ip, params } = request;
    const key = params.token ?? bearerOf(request.headers);
    if (key === undefined) throw unauthorised();
    if (typeof body !== 'string') throw badRequest('body', 'The body is a session description (SDP).');
    const { token, answer } = await whip.publish({ key, ip, offer: body });
    return reply
      .status(201)
      .headers({ Location: `/whip/sessions/${token}`, 'Access-Control-Expose-Headers': EXPOSED })
      .headers({ 'Cache-Control': 'no-store', ...linksOf(iceServers()) })
      .type(SDP)
      .send(answer);
  };
  return (app) => {
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      const parser = { parseAs: 'string', bodyLimit: MAX_BYTES } as const;
      scope.addContentTypeParser(SDP, parser, (_request, body, done) => done(null, body));
      scope.post('/whip', publish);
      scope.post('/whip/:token', publish);
      scope.delete('/whip/sessions/:token', async (request: SessionRequest, reply) => {
        await whip.end(request.params.token);
        return reply.status(200).send();
      });
    });
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      // Whatever comes is refused alike.
      scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
      scope.patch('/whip/sessions/:token', () => {
        throw new AppError('METHOD_NOT_ALLOWED', {
          message: 'Candidates stand in the offer, and ICE is not restarted: publish anew instead.',
          headers: { Allow: 'DELETE' },
        });
      });
    });
  };
}

function linksOf(servers: readonly IceServer[]): Record<string, string> {
  const links = iceLinks(servers);
  return links === '' ? {} : { Link: links };
}
