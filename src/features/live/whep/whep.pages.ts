import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { clientInfoOf } from '../../../http/client-info.ts';
import { limitByIp } from '../../../http/plugins/limits.ts';
import type { Limit } from '../../../http/route.ts';
import { parseSdpOffer, SDP, sdpSessions } from '../../../http/sdp-sessions.ts';
import type { Counter } from '../../../platform/counters.ts';
import type { Whep } from './service.ts';

const EXPOSED = 'Location, Link, X-Viewers, X-SVC-Request-Id, Retry-After';
/** Each offer causes work in the media role. A player that loses its connection retries a few times. */
const OFFERS: Limit = { bucket: 'whep', per: 'ip', max: 60, windowSec: 60, refusal: 'RATE_LIMITED' };

interface Deps {
  whep: Whep;
  caps(windowSec: number | 'day'): Counter;
  /** Returns the `Link` header with STUN and TURN servers; empty without servers. */
  iceLinks(): string;
}

type PlayRequest = FastifyRequest<{ Params: { streamId: string }; Querystring: { token?: string } }>;

/**
 * `POST /whep/{streamId}`, where a player watches by WebRTC (draft-ietf-wish-whep), and its session at
 * `/whep/sessions/{token}` (docs/concepts/whep.md).
 */
export function whepPages({ whep, caps, iceLinks }: Deps): (app: FastifyInstance) => void {
  const play = async (request: PlayRequest, reply: FastifyReply) => {
    const { body, ip, params, query, headers } = request;
    await limitByIp({ counters: { window: caps } }, OFFERS, ip);
    const offer = parseSdpOffer(body);
    const { token, answer, viewerCount } = await whep.play({
      streamId: params.streamId,
      viewer: { token: query.token, asking: { headers, ip } },
      visit: clientInfoOf(request),
      offer,
    });
    const links = iceLinks();
    return reply
      .status(201)
      .headers({ Location: `/whep/sessions/${token}`, 'Access-Control-Expose-Headers': EXPOSED })
      .headers({ 'Cache-Control': 'no-store', 'X-Viewers': viewerCount, ...(links && { Link: links }) })
      .type(SDP)
      .send(answer);
  };
  return sdpSessions({
    endpoints: ['/whep/:streamId'],
    path: '/whep/sessions',
    verb: 'watch',
    end: (token) => whep.end(token),
    iceOf: (token) => whep.iceOf(token),
    offers(scope) {
      scope.post('/whep/:streamId', play);
    },
  });
}
