import Type, { type TObject } from 'typebox';
import { requiresWrite } from '../../../../http/access.ts';
import { namedSchema } from '../../../../http/named-schema.ts';
import { defineRoute, type Route, type RouteOptions } from '../../../../http/route.ts';
import { IdParams, SourceUrl } from '../../../../http/schema.ts';
import type { Caller } from '../../../../kernel/access.ts';
import { badRequest } from '../../../../kernel/errors.ts';
import type { VideoLinks } from '../../../audience/playback/index.ts';
import type { VideoDetails } from '../repository.ts';
import { file, replacedVideo, toVideo, Video } from '../schemas.ts';
import type { Replacements } from './service.ts';

const ReplacementIn = namedSchema(
  'VideoReplacementCreate',
  Type.Object({ ...file, sourceUrl: Type.Optional(SourceUrl) }),
  {
    filename: 'film-corrected.mp4',
    sizeBytes: 731_906_048,
    mimeType: 'video/mp4',
  },
);

interface Deps {
  replacements: Replacements;
  links: VideoLinks;
  /** The shape of an upload session. */
  Upload: TObject;
}

const one = {
  path: '/videos/{id}/replacement',
  params: IdParams('vid', 'video'),
} as const satisfies RouteOptions;

/** Another file for a video (docs/concepts/videos.md#replacing-the-file). */
export function replacementRoutes({ replacements, links, Upload }: Deps): Route[] {
  const out = ({ mode }: Caller, row: VideoDetails) => toVideo(row, { mode, links });
  return [
    defineRoute({
      ...requiresWrite('videos:write'),
      ...one,
      operationId: 'videos.replace',
      method: 'POST',
      summary: "Replace a video's file",
      description:
        'Opens an upload session for the new file, or imports it from `sourceUrl`. The video keeps its ID, URLs, settings, views and purchases, and plays the current file until the new one is ready; `replacement` reports progress. Returns 409 unless the video is READY and no replacement is in progress.',
      body: ReplacementIn,
      optionalBody: true,
      reply: { status: 201, schema: replacedVideo(Upload) },
      errors: ['CONFLICT', 'QUOTA_EXCEEDED', 'INSUFFICIENT_STORAGE'],
      async handler({ caller }, { params: { id }, body: { sourceUrl, ...announced } }) {
        const { workspaceId } = caller;
        if (sourceUrl !== undefined && Object.keys(announced).length > 0) {
          throw badRequest('sourceUrl', 'sourceUrl cannot be combined with other file properties.');
        }
        const { video, upload } =
          sourceUrl === undefined
            ? await replacements.start(caller, id, announced)
            : await replacements.fetch(workspaceId, id, sourceUrl);
        return { ...out(caller, video), upload };
      },
    }),
    defineRoute({
      ...requiresWrite('videos:write'),
      ...one,
      operationId: 'videos.cancelReplacement',
      method: 'DELETE',
      summary: 'Cancel a file replacement',
      description:
        'Keeps the current file and deletes the received part of the new one. Also dismisses a failed replacement. Returns 409 if there is none.',
      reply: { status: 200, schema: Video },
      errors: ['CONFLICT'],
      handler: async ({ caller }, { params }) =>
        out(caller, await replacements.cancel(caller.workspaceId, params.id)),
    }),
  ];
}
