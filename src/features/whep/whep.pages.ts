import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { countAddress } from '../../http/plugins/limits.ts';
import type { Limit } from '../../http/route.ts';
import { visitOf } from '../../http/visit.ts';
import { AppError, badRequest } from '../../kernel/errors.ts';
import type { Counter } from '../../platform/counters.ts';
import type { Whep } from './service.ts';

const SDP = 'application/sdp';
const MAX_BYTES = 64 * 1024;
const EXPOSED = 'Location, Link, X-Viewers, X-SVC-Request-Id, Retry-After';
/** Each makes the media role work. A player that loses its connection comes back a few times. */
const OFFERS: Limit = { bucket: 'whep', per: 'ip', max: 60, windowSec: 60, refusal: 'RATE_LIMITED' };

interface Deps {
  whep: Whep;
  caps(windowSec: number | 'day'): Counter;
  /** `Link` with the servers that help a client through firewalls; nothing where there are none. */
  iceLinks(): string;
}

type PlayRequest = FastifyRequest<{ Params: { streamId: string }; Querystring: { token?: string } }>;
type SessionRequest = FastifyRequest<{ Params: { token: string } }>;

/**
 * `POST /whep/{streamId}`, where a player watches by WebRTC (draft-ietf-wish-whep), and its session at
 * `/whep/sessions/{token}` (docs/api/whep.md).
 */
export function whepPages({ whep, caps, iceLinks }: Deps): (app: FastifyInstance) => void {
  const play = async (request: PlayRequest, reply: FastifyReply) => {
    const { body, ip, params, query, headers } = request;
    await countAddress({ counters: { window: caps } }, OFFERS, ip);
    if (typeof body !== 'string') throw badRequest('body', 'The body is a session description (SDP).');
    const { token, answer, viewerCount } = await whep.play({
      streamId: params.streamId,
      viewer: { token: query.token, asking: { headers, ip } },
      visit: visitOf(request),
      offer: body,
    });
    const links = iceLinks();
    return reply
      .status(201)
      .headers({ Location: `/whep/sessions/${token}`, 'Access-Control-Expose-Headers': EXPOSED })
      .headers({ 'Cache-Control': 'no-store', 'X-Viewers': viewerCount, ...(links && { Link: links }) })
      .type(SDP)
      .send(answer);
  };
  return (app) => {
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      const parser = { parseAs: 'string', bodyLimit: MAX_BYTES } as const;
      scope.addContentTypeParser(SDP, parser, (_request, body, done) => done(null, body));
      scope.post('/whep/:streamId', play);
      scope.delete('/whep/sessions/:token', async (request: SessionRequest, reply) => {
        await whep.end(request.params.token);
        return reply.status(200).send();
      });
    });
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      // Whatever comes is refused alike.
      scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
      scope.patch('/whep/sessions/:token', () => {
        throw new AppError('METHOD_NOT_ALLOWED', {
          message: 'Candidates stand in the offer, and ICE is not restarted: watch anew instead.',
          headers: { Allow: 'DELETE' },
        });
      });
    });
  };
}
