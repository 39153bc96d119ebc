import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { bearerOf } from '../../../http/bearer.ts';
import { parseSdpOffer, SDP, sdpSessions } from '../../../http/sdp-sessions.ts';
import type { IceServer } from './ice-links.ts';
import { iceLinks } from './ice-links.ts';
import { unauthorized, type Whip } from './service.ts';

const EXPOSED = 'Location, Link, X-SVC-Request-Id, Retry-After';

interface Deps {
  whip: Whip;
  /** Returns the STUN and TURN servers for clients. */
  iceServers(): IceServer[];
}

type KeyRequest = FastifyRequest<{ Params: { token?: string } }>;

/**
 * `POST /whip` and `POST /whip/{streamKey}`, where an encoder publishes by WebRTC (RFC 9725), and its session at
 * `/whip/sessions/{token}` (docs/concepts/whip.md).
 */
export function whipPages({ whip, iceServers }: Deps): (app: FastifyInstance) => void {
  const publish = async (request: KeyRequest, reply: FastifyReply) => {
    const { body, ip, params } = request;
    const key = params.token ?? bearerOf(request.headers);
    if (key === undefined) throw unauthorized();
    const { token, answer } = await whip.publish({ key, ip, offer: parseSdpOffer(body) });
    return reply
      .status(201)
      .headers({ Location: `/whip/sessions/${token}`, 'Access-Control-Expose-Headers': EXPOSED })
      .headers({ 'Cache-Control': 'no-store', ...linksOf(iceServers()) })
      .type(SDP)
      .send(answer);
  };
  return sdpSessions({
    endpoints: ['/whip', '/whip/:token'],
    path: '/whip/sessions',
    verb: 'publish',
    end: (token) => whip.end(token),
    iceOf: (token) => whip.iceOf(token),
    offers(scope) {
      scope.post('/whip', publish);
      scope.post('/whip/:token', publish);
    },
  });
}

function linksOf(servers: readonly IceServer[]): Record<string, string> {
  const links = iceLinks(servers);
  return links === '' ? {} : { Link: links };
}
