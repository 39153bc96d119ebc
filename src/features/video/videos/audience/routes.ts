import Type from 'typebox';
import { attributingKey } from '../../../../http/access.ts';
import { namedSchema } from '../../../../http/named-schema.ts';
import { defineRoute, type Route } from '../../../../http/route.ts';
import { IdParams, Nullable } from '../../../../http/schema.ts';
import { MINUTE_SEC } from '../../../../kernel/durations.ts';
import { ipBlock } from '../../../../kernel/ip-block.ts';
import type { VideoLinks } from '../../../audience/playback/index.ts';
import { toLinked } from '../schemas.ts';
import type { Audience } from './service.ts';

const Id = IdParams('vid', 'video');

const RelatedVideo = namedSchema(
  'RelatedVideo',
  Type.Object({
    id: Type.String(),
    title: Type.String(),
    thumbnailUrl: Nullable(Type.String()),
    durationSec: Nullable(Type.Number()),
    viewCount: Type.Integer(),
    channel: Type.Object({ username: Type.String(), displayName: Type.String() }),
  }),
  {
    id: 'vid_01kafe3n4pfx2v9yq6m8d7t5zr',
    title: 'Another film',
    thumbnailUrl: null,
    durationSec: 300.2,
    viewCount: 64,
    channel: { username: 'ada', displayName: 'Ada Lovelace' },
  },
);

const View = namedSchema('View', Type.Object({ counted: Type.Boolean(), viewCount: Type.Integer() }), {
  counted: true,
  viewCount: 1024,
});

const ViewIn = namedSchema(
  'ViewCreate',
  Type.Object({
    sessionId: Type.Optional(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: 128,
          description:
            'Session ID of the player; without it, viewers are distinguished by IP address and browser.',
        }),
      ),
    ),
    positionSec: Type.Optional(
      Nullable(
        Type.Number({
          minimum: 0,
          description: 'Playback position of the viewer. Without it, a view is counted once per IP address.',
        }),
      ),
    ),
    referrer: Type.Optional(
      Nullable(
        Type.String({
          maxLength: 2048,
          description: 'Referring page; only its host is stored.',
        }),
      ),
    ),
  }),
  { sessionId: 'b1946ac9', positionSec: 12.5 },
);

interface Deps {
  audience: Audience;
  links: VideoLinks;
}

/**
 * Returns the routes that need no key: `/videos/{id}/related` and `/views` (docs/concepts/videos.md,
 * docs/concepts/authentication.md#the-key).
 */
export function audienceRoutes({ audience, links }: Deps): Route[] {
  return [
    defineRoute({
      ...attributingKey,
      operationId: 'videos.related',
      method: 'GET',
      path: '/videos/{id}/related',
      summary: 'List related videos',
      description: 'Videos of the same channel first, then videos with shared tags, then recent videos.',
      params: Id,
      limits: [{ bucket: 'public-reads', per: 'ip', max: 60, windowSec: MINUTE_SEC, refusal: 'text' }],
      query: Type.Object({
        limit: Type.Integer({ minimum: 1, maximum: 20, default: 10, description: 'Page size.' }),
      }),
      reply: { status: 200, schema: namedSchema('RelatedVideos', Type.Array(RelatedVideo)) },
      async handler(_context, { params, query }) {
        const rows = await audience.related(params.id, query.limit);
        return rows.map((row) => ({
          id: row.id,
          title: row.title,
          thumbnailUrl: links.thumbnailUrl(toLinked(row, true)),
          durationSec: row.duration_sec,
          viewCount: row.view_count,
          channel: { username: row.username, displayName: row.name ?? row.username },
        }));
      },
    }),
    defineRoute({
      ...attributingKey,
      operationId: 'videos.view',
      method: 'POST',
      path: '/videos/{id}/views',
      summary: 'Record a view',
      description:
        'Sent by players. A viewer counts once per 24 hours: with `positionSec`, after 10 seconds or a quarter of the video; without it, immediately. A restricted video requires the `token` of its playback URL, or a request from the page that showed it to a follower or member.',
      writes: false,
      params: Id,
      limits: [
        // Applied before the limit per video, which new IDs would bypass.
        { bucket: 'views-address', per: 'ip', max: 600, windowSec: MINUTE_SEC, refusal: 'RATE_LIMIT' },
        { bucket: 'views', per: 'ip', param: 'id', max: 30, windowSec: MINUTE_SEC, refusal: 'RATE_LIMIT' },
      ],
      query: Type.Object({
        token: Type.Optional(Type.String({ description: 'Token of the playback URL.' })),
      }),
      body: ViewIn,
      optionalBody: true,
      reply: {
        status: 200,
        schema: View,
      },
      handler: ({ ip, userAgent, client }, { params, query, body }) =>
        audience.view(params.id, {
          sessionId: body.sessionId ?? null,
          positionSec: body.positionSec ?? null,
          token: query.token ?? null,
          address: ipBlock(ip),
          userAgent,
          visit: client(),
          referrer: body.referrer ?? null,
        }),
    }),
  ];
}
