import Type from 'typebox';
import { requiresWrite } from '../../../../http/access.ts';
import { namedSchema } from '../../../../http/named-schema.ts';
import { defineRoute, type Route, type RouteOptions } from '../../../../http/route.ts';
import { IdParams, Title, Visibility } from '../../../../http/schema.ts';
import type { Caller } from '../../../../kernel/access.ts';
import type { VideoLinks } from '../../../audience/playback/index.ts';
import type { VideoDetails } from '../repository.ts';
import { toVideo, Video } from '../schemas.ts';
import type { Clips } from './service.ts';

/** A broadcast may last for weeks. */
const Second = Type.Number({ minimum: 0, maximum: 31_536_000 });

const ClipIn = namedSchema(
  'ClipCreate',
  Type.Object({
    startSec: { ...Second, description: 'Start of the clip in the video or broadcast.' },
    endSec: { ...Second, description: 'End of the clip, 1 to 14,400 seconds after `startSec`.' },
    title: Title,
    visibility: Type.Optional({ ...Visibility, description: 'Defaults to the visibility of the source.' }),
  }),
  { startSec: 754.2, endSec: 784.2, title: 'The encore', visibility: 'PUBLIC' },
);

const create = {
  method: 'POST',
  idempotent: true,
  body: ClipIn,
  reply: { status: 201, schema: Video },
  errors: ['CONFLICT', 'QUOTA_EXCEEDED'],
} as const satisfies RouteOptions;

interface Deps {
  clips: Clips;
  links: VideoLinks;
}

/** Clips of videos and streams (docs/concepts/clips.md). */
export function clipRoutes({ clips, links }: Deps): Route[] {
  const out = ({ mode }: Caller, row: VideoDetails) => toVideo(row, { mode, links });
  return [
    defineRoute({
      ...requiresWrite('videos:write'),
      ...create,
      operationId: 'videos.clip',
      path: '/videos/{id}/clips',
      summary: 'Create a clip from a video',
      description:
        'Creates a new video with `source` CLIP, cut to the exact frame. Returns 409 unless the video is READY.',
      params: IdParams('vid', 'video'),
      handler: async ({ caller }, { params, body }) =>
        out(caller, await clips.ofVideo(caller.workspaceId, params.id, body)),
    }),
    defineRoute({
      ...requiresWrite('streams:write'),
      ...create,
      operationId: 'streams.clip',
      path: '/streams/{id}/clips',
      summary: 'Create a clip from a broadcast',
      description:
        'During a broadcast, from the DVR window (`dvrWindowSec`); afterwards, from its recordings. Creates a video with `source` CLIP. Returns 409 if no media is available.',
      params: IdParams('str', 'stream'),
      handler: async ({ caller }, { params, body }) =>
        out(caller, await clips.ofStream(caller.workspaceId, params.id, body)),
    }),
  ];
}
