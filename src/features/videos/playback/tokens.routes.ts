import Type from 'typebox';
import { writes } from '../../../http/access.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { IdParams, Instant } from '../../../http/schema.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { VideoTokens } from './admission.service.ts';
import type { VideoGates } from './gate.service.ts';

const DEFAULT_TTL_SEC = 43_200;

const PlaybackTokenIn = Type.Object({
  ttlSec: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: 604_800,
      default: DEFAULT_TTL_SEC,
      description: 'Seconds it is good for.',
    }),
  ),
});

const PlaybackToken = Type.Object(
  {
    token: Type.String({ description: 'Goes as `?token=` to every address of the video.' }),
    playbackUrl: Type.String({ description: 'The HLS master playlist; 404 until the video can be played.' }),
    embedUrl: Type.String(),
    watchUrl: Type.String(),
    expiresAt: Instant,
  },
  { $id: 'PlaybackToken' },
);

interface Deps {
  gates: VideoGates;
  tokens: Pick<VideoTokens, 'mint'>;
  /** Without a slash at the end. */
  publicUrl: string;
}

/** `POST /videos/{id}/playback-tokens`: for partners who decide themselves who may watch (`api.md` C3.1). */
export function playbackTokenRoutes({ gates, tokens, publicUrl }: Deps): Route[] {
  return [
    defineRoute({
      // Not videos:read: it gives away sight of the video, and to people without a key.
      ...writes('videos:write'),
      operationId: 'videos.createPlaybackToken',
      method: 'POST',
      path: '/videos/{id}/playback-tokens',
      summary: 'Let somebody watch a video for a while',
      description:
        'Whoever has one of the addresses can watch the video until it expires, whatever its visibility. It cannot be called back, but the video can be deleted.',
      params: IdParams,
      body: PlaybackTokenIn,
      optionalBody: true,
      reply: { status: 201, schema: PlaybackToken },
      async handler({ caller }, { params: { id }, body: { ttlSec = DEFAULT_TTL_SEC } }) {
        const gate = await gates.get(id);
        if (gate?.workspaceId !== caller.workspaceId) throw notFound();
        const { token, expiresAt } = tokens.mint('playback', id, ttlSec);
        return {
          token,
          playbackUrl: `${publicUrl}/v/${id}/master.m3u8?token=${token}`,
          embedUrl: `${publicUrl}/embed/${id}?token=${token}`,
          watchUrl: `${publicUrl}/watch/${id}?token=${token}`,
          expiresAt: expiresAt.toISOString(),
        };
      },
    }),
  ];
}
