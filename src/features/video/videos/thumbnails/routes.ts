import Type from 'typebox';
import { requiresWrite } from '../../../../http/access.ts';
import { namedSchema } from '../../../../http/named-schema.ts';
import { defineRoute, type Route } from '../../../../http/route.ts';
import { Deleted, IdParams } from '../../../../http/schema.ts';
import type { VideoLinks } from '../../../audience/playback/index.ts';
import { toVideo, Video } from '../schemas.ts';
import { THUMBNAIL_MAX_BYTES, type Thumbnails } from './service.ts';

const Id = IdParams('vid', 'video');

const ThumbnailIn = namedSchema(
  'ThumbnailSet',
  Type.Object({
    atSec: Type.Optional(Type.Number({ minimum: 0, description: 'Time in the video, if no file is sent.' })),
  }),
  { atSec: 12.5 },
);

interface Deps {
  thumbnails: Thumbnails;
  links: VideoLinks;
}

/** The thumbnail of a video (docs/concepts/videos.md). */
export function thumbnailRoutes({ thumbnails, links }: Deps): Route[] {
  const path = '/videos/{id}/thumbnail';
  return [
    defineRoute({
      ...requiresWrite('videos:write'),
      operationId: 'videos.putThumbnail',
      method: 'PUT',
      path,
      summary: 'Set a custom thumbnail',
      description:
        'Accepts a PNG, JPEG or WebP image up to 5 MB, served as JPEG, or a position `atSec`, which is shown as soon as the frame has been extracted.',
      limits: [{ bucket: 'thumbnail', per: 'key', max: 120, windowSec: 3600, refusal: 'RATE_LIMITED' }],
      upload: { field: 'file', maxBytes: THUMBNAIL_MAX_BYTES },
      params: Id,
      body: ThumbnailIn,
      optionalBody: true,
      reply: { status: 200, schema: Video },
      errors: ['NOT_FOUND', 'CONFLICT', 'INSUFFICIENT_STORAGE'],
      async handler({ caller, upload }, { params, body }) {
        const row =
          upload === undefined
            ? await thumbnails.take(caller.workspaceId, params.id, body.atSec ?? null)
            : await thumbnails.put(caller.workspaceId, params.id, upload.bytes);
        return toVideo(row, { mode: caller.mode, links });
      },
    }),
    defineRoute({
      ...requiresWrite('videos:write'),
      operationId: 'videos.deleteThumbnail',
      method: 'DELETE',
      path,
      summary: 'Restore the automatic thumbnail',
      description: 'The response `id` is the video ID.',
      params: Id,
      reply: { status: 200, schema: Deleted },
      errors: ['NOT_FOUND'],
      async handler({ caller }, { params }) {
        await thumbnails.remove(caller.workspaceId, params.id);
        return { id: params.id, deleted: true };
      },
    }),
  ];
}
