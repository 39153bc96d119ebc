import Type, { type Static } from 'typebox';
import { requiresRead, requiresWrite } from '../../../http/access.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { defineRoute, type Route, type RouteOptions } from '../../../http/route.ts';
import { IdParams, Instant } from '../../../http/schema.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Snapshots } from '../../../kernel/snapshots.ts';
import type { StreamSnapshot } from './live/snapshot.ts';
import type { PlaybackSessions } from './playback-sessions.ts';
import type { PlaybackTokens } from './tokens.ts';
import { type Downloads, ORIGINAL } from './videos/download.service.ts';
import type { VideoSnapshot } from './videos/snapshot.ts';

const Id = IdParams('vid', 'video');

const DEFAULT_TTL_SEC = 43_200;

const PlaybackTokenIn = namedSchema(
  'PlaybackTokenCreate',
  Type.Object({
    ttlSec: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: 604_800,
        default: DEFAULT_TTL_SEC,
        description: 'Lifetime in seconds.',
      }),
    ),
    viewerId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description:
          'Your identifier of the viewer, so that viewers who share an IP address and browser are counted separately. It cannot be read from the token.',
      }),
    ),
  }),
  { ttlSec: 3600 },
);

type TokenIn = Static<typeof PlaybackTokenIn>;

const PlaybackToken = namedSchema(
  'PlaybackToken',
  Type.Object({
    token: Type.String({ description: 'Append as `?token=` to every URL of the video or stream.' }),
    playbackUrl: Type.String({
      description: 'HLS master playlist; returns 404 while there is nothing to play.',
    }),
    embedUrl: Type.String(),
    watchUrl: Type.String(),
    expiresAt: Instant,
    beacon: Type.Object(
      {
        url: Type.String(),
        session: Type.String({ description: 'Session of one player: request a new token for each player.' }),
      },
      {
        description:
          'Endpoint to which a custom player reports playback (docs/concepts/playback.md#beacons).',
      },
    ),
  }),
  {
    token: 'eyJ2IjoxfQ.c2lnbmF0dXJl',
    playbackUrl:
      'https://video.example.com/v/vid_01kafe3n4pfx2v9yq6m8d7t5zr/master.m3u8?token=eyJ2IjoxfQ.c2lnbmF0dXJl',
    embedUrl: 'https://video.example.com/embed/vid_01kafe3n4pfx2v9yq6m8d7t5zr?token=eyJ2IjoxfQ.c2lnbmF0dXJl',
    watchUrl: 'https://video.example.com/watch/vid_01kafe3n4pfx2v9yq6m8d7t5zr?token=eyJ2IjoxfQ.c2lnbmF0dXJl',
    expiresAt: '2026-11-20T09:00:00.000Z',
    beacon: {
      url: 'https://video.example.com/playback/beacon',
      session: 'vid_01kafe3n4pfx2v9yq6m8d7t5zr.mi7f0w1s.playback.Qm9vQm9vQm9vQm8.c2Vzc2lvbl8.v.c2lnbmF0dXJl',
    },
  },
);

const DOWNLOAD_TTL_SEC = 3600;

const Download = namedSchema(
  'Download',
  Type.Object({
    url: Type.String({
      description: 'Requires no key and supports range requests, so interrupted downloads can be resumed.',
    }),
    filename: Type.String({ description: 'Suggested file name.' }),
    contentType: Type.String(),
    expiresAt: Instant,
  }),
  {
    url: 'https://video.example.com/v/vid_01kafe3n4pfx2v9yq6m8d7t5zr/download/720p?token=tm4g1c.c2lnbmF0dXJl',
    filename: 'A film.mp4',
    contentType: 'video/mp4',
    expiresAt: '2026-11-20T10:00:00.000Z',
  },
);

interface Deps {
  streams: Snapshots<StreamSnapshot>;
  videos: Snapshots<VideoSnapshot>;
  tokens: Pick<PlaybackTokens, 'mint'>;
  sessions: Pick<PlaybackSessions, 'mint'>;
  /** URL without a trailing slash. */
  publicUrl: string;
}

const request = {
  method: 'POST',
  params: Id,
  body: PlaybackTokenIn,
  optionalBody: true,
  reply: { status: 201, schema: PlaybackToken },
} as const satisfies RouteOptions;

/**
 * Returns the routes `POST /videos/{id}/playback-tokens` and its equivalent for streams, for partners who
 * control access.
 */
export function playbackTokenRoutes({ streams, videos, tokens, sessions, publicUrl }: Deps): Route[] {
  const mint = (id: string, folder: 'live' | 'v', { ttlSec = DEFAULT_TTL_SEC, viewerId }: TokenIn) => {
    const { token, expiresAt } = tokens.mint('playback', id, ttlSec, viewerId);
    const session = sessions.mint(
      { id, grant: 'playback', referrer: null, isSelf: false },
      `?token=${encodeURIComponent(token)}`,
    );
    return {
      token,
      playbackUrl: `${publicUrl}/${folder}/${id}/master.m3u8?token=${token}`,
      embedUrl: `${publicUrl}/embed/${id}?token=${token}`,
      watchUrl: `${publicUrl}/watch/${id}?token=${token}`,
      expiresAt: expiresAt.toISOString(),
      beacon: { url: `${publicUrl}/playback/beacon`, session },
    };
  };
  return [
    defineRoute({
      ...request,
      // Not videos:read: a token grants access to the video, even to people without a key.
      ...requiresWrite('videos:write'),
      operationId: 'videos.createPlaybackToken',
      path: '/videos/{id}/playback-tokens',
      summary: 'Create a playback token for a video',
      description:
        'Anyone with one of the URLs can watch the video until the token expires, regardless of its visibility. Tokens cannot be revoked, but the video can be deleted.',
      async handler({ caller }, { params: { id }, body }) {
        if ((await videos.get(id))?.workspaceId !== caller.workspaceId) throw notFound();
        return mint(id, 'v', body);
      },
    }),
    defineRoute({
      ...request,
      ...requiresWrite('streams:write'),
      operationId: 'streams.createPlaybackToken',
      path: '/streams/{id}/playback-tokens',
      summary: 'Create a playback token for a stream',
      description:
        'Anyone with one of the URLs can watch every broadcast of the stream until the token expires, regardless of its visibility. The preview is not included. Tokens cannot be revoked, but the stream can be deleted.',
      async handler({ caller }, { params: { id }, body }) {
        if ((await streams.get(id))?.workspaceId !== caller.workspaceId) throw notFound();
        return mint(id, 'live', body);
      },
    }),
  ];
}

/** `GET /videos/{id}/download` (docs/concepts/videos.md#download). */
export function downloadRoutes({ downloads }: { downloads: Downloads }): Route[] {
  return [
    defineRoute({
      ...requiresRead('videos:read'),
      operationId: 'videos.download',
      method: 'GET',
      path: '/videos/{id}/download',
      summary: 'Create a download URL',
      description:
        'The original file, or a rendition with audio as an MP4. Anyone with the URL can download the file until it expires; it cannot be revoked.',
      params: Id,
      query: Type.Object({
        rendition: Type.String({
          minLength: 1,
          maxLength: 32,
          default: ORIGINAL,
          description: '`original`, or the name of a rendition.',
          examples: [ORIGINAL, '720p'],
        }),
        ttlSec: Type.Integer({
          minimum: 60,
          maximum: 604_800,
          default: DOWNLOAD_TTL_SEC,
          description: 'Lifetime in seconds.',
        }),
      }),
      reply: { status: 200, schema: Download },
      errors: ['CONFLICT'],
      async handler({ caller }, { params, query }) {
        const { rendition, ttlSec } = query;
        const made = await downloads.mint(caller.workspaceId, params.id, rendition, ttlSec);
        return { ...made, expiresAt: made.expiresAt.toISOString() };
      },
    }),
  ];
}
