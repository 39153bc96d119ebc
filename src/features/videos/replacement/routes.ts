import Type, { type TObject } from 'typebox';
import { writes } from '../../../http/access.ts';
import { named } from '../../../http/named.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { IdParams, SourceUrl } from '../../../http/schema.ts';
import type { Caller } from '../../../kernel/access.ts';
import { badRequest } from '../../../kernel/errors.ts';
import type { VideoLinks } from '../../playback/index.ts';
import type { ShownVideo } from '../repository.ts';
import { file, replacedVideo, toVideo, Video } from '../schemas.ts';
import type { Replacements } from './service.ts';

const ReplacementIn = named(
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

const one = { path: '/videos/{id}/replacement', params: IdParams('vid', 'video') } as const;

/** Another file for a video (docs/concepts/videos.md#replacing-the-file). */
export function replacementRoutes({ replacements, links, Upload }: Deps): Route[] {
  const out = ({ mode }: Caller, row: ShownVideo) => toVideo(row, { mode, links });
  return [
    defineRoute({
      ...writes('videos:write'),
      ...one,
      operationId: 'videos.replace',
      method: 'POST',
      summary: 'Replace the file of a video',
      description:
        'Opens an upload session for the new file, or fetches it from `sourceUrl` as an import does. The video keeps its id, addresses, settings, views and purchases, and plays what it has until the new file is ready; `replacement` tells how far that is. 409 unless the video is READY, and while its file is being replaced.',
      body: ReplacementIn,
      optionalBody: true,
      reply: { status: 201, schema: replacedVideo(Upload) },
      errors: ['CONFLICT', 'QUOTA_EXCEEDED', 'INSUFFICIENT_STORAGE'],
      async handler({ caller }, { params: { id }, body: { sourceUrl, ...announced } }) {
        const { workspaceId } = caller;
        if (sourceUrl !== undefined && Object.keys(announced).length > 0) {
          throw badRequest('sourceUrl', 'What is fetched has no other properties: send them, or sourceUrl.');
        }
        const { video, upload } =
          sourceUrl === undefined
            ? await replacements.start(caller, id, announced)
            : await replacements.fetch(workspaceId, id, sourceUrl);
        return { ...out(caller, video), upload };
      },
    }),
    defineRoute({
      ...writes('videos:write'),
      ...one,
      operationId: 'videos.cancelReplacement',
      method: 'DELETE',
      summary: 'Cancel the replacement of a file',
      description:
        'The video stays as it is, and what has come of the new file is removed. Puts one that has failed away. 409 when there is none.',
      reply: { status: 200, schema: Video },
      errors: ['CONFLICT'],
      handler: async ({ caller }, { params }) =>
        out(caller, await replacements.cancel(caller.workspaceId, params.id)),
    }),
  ];
}
