import Type, { type TObject } from 'typebox';
import { requiresRead, requiresWrite } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route, type RouteOptions } from '../../../http/route.ts';
import { CommaList, Deleted, IdParams, parseList } from '../../../http/schema.ts';
import type { Caller } from '../../../kernel/access.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { VISIBILITIES } from '../../../kernel/visibility.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { VideoLinks } from '../../audience/playback/index.ts';
import type { VideoDetails } from './repository.ts';
import { newVideo, PublishIn, toVideo, Video, VideoIn, VideoPatch } from './schemas.ts';
import type { Videos } from './service.ts';

const Id = IdParams('vid', 'video');

const one = { params: Id, reply: { status: 200, schema: Video } } as const satisfies RouteOptions;

interface Deps {
  videos: Videos;
  links: VideoLinks;
  cursors: CursorCodec;
  /** The shape of an upload session. */
  Upload: TObject;
}

/** Returns the routes of `/videos` (docs/concepts/videos.md). */
export function videoRoutes({ videos, links, cursors, Upload }: Deps): Route[] {
  const out = (caller: Caller, row: VideoDetails) => toVideo(row, { mode: caller.mode, links });
  return [
    defineRoute({
      ...requiresWrite('videos:write'),
      operationId: 'videos.create',
      method: 'POST',
      path: '/videos',
      summary: 'Create a video and its upload session',
      description: 'The video is UPLOADING until its file has been sent to `upload.uploadUrl`.',
      body: VideoIn,
      reply: { status: 201, schema: newVideo(Upload) },
      errors: ['QUOTA_EXCEEDED', 'INSUFFICIENT_STORAGE'],
      async handler({ caller }, { body }) {
        const { video, upload } = await videos.create(caller, body);
        return { ...out(caller, video), upload };
      },
    }),
    defineRoute({
      ...requiresRead('videos:read'),
      operationId: 'videos.list',
      method: 'GET',
      path: '/videos',
      summary: 'List videos',
      description: 'Lists all videos of the workspace except deleted ones. `q` matches part of the title.',
      query: listQuery({
        status: CommaList(VALUES.video.status),
        visibility: CommaList(VISIBILITIES),
        tag: Type.Optional(Type.String({ description: 'Videos that have this tag.' })),
        externalId: Type.Optional(Type.String({ description: 'Your own ID of the video.' })),
        streamId: Type.Optional(Type.String({ description: 'Recordings of this stream.' })),
        q: Type.Optional(
          Type.String({ minLength: 1, maxLength: 200, description: 'Part of the title; case-insensitive.' }),
        ),
      }),
      reply: { status: 200, schema: Video, list: true },
      async handler({ caller }, { query }) {
        const list = new ListReader(cursors, `videos:${caller.workspaceId}`, query);
        const status = parseList('status', VALUES.video.status, query.status);
        const visibility = parseList('visibility', VISIBILITIES, query.visibility);
        const { tag, externalId, streamId, q } = query;
        // Only the filters, so that lists without filters are planned once.
        const filter = { status, visibility, tag, externalId, streamId, q };
        const rows = await videos.list(caller.workspaceId, filter, list.request);
        return list.page(rows, (row) => out(caller, row));
      },
    }),
    defineRoute({
      ...requiresRead('videos:read'),
      ...one,
      operationId: 'videos.get',
      method: 'GET',
      path: '/videos/{id}',
      summary: 'Get a video',
      description:
        'Includes processing state, renditions, captions and chapters. `playbackUrl` is set as soon as one rendition is playable.',
      handler: async ({ caller }, { params }) => out(caller, await videos.get(caller.workspaceId, params.id)),
    }),
    defineRoute({
      ...requiresWrite('videos:write'),
      ...one,
      operationId: 'videos.update',
      method: 'PATCH',
      path: '/videos/{id}',
      summary: 'Update a video',
      description: 'Omitted fields are unchanged; null clears nullable fields.',
      body: VideoPatch,
      handler: async ({ caller }, { params, body }) =>
        out(caller, await videos.update(caller.workspaceId, params.id, body)),
    }),
    defineRoute({
      ...requiresWrite('videos:write'),
      operationId: 'videos.delete',
      method: 'DELETE',
      path: '/videos/{id}',
      summary: 'Delete a video',
      description:
        'Takes effect immediately, including for storage accounting. Files are deleted after 30 days.',
      params: Id,
      reply: { status: 200, schema: Deleted },
      async handler({ caller }, { params }) {
        await videos.remove(caller.workspaceId, params.id);
        return { id: params.id, deleted: true };
      },
    }),
    ...stateRoutes(videos, out),
  ];
}

function stateRoutes(videos: Videos, out: (caller: Caller, row: VideoDetails) => Video): Route[] {
  return [
    defineRoute({
      ...requiresWrite('videos:write'),
      ...one,
      operationId: 'videos.publish',
      method: 'POST',
      path: '/videos/{id}/publish',
      summary: 'Publish or schedule a video',
      description:
        'Changes a PRIVATE video to PUBLIC, now or at `at`. Videos with any other visibility are already published; they are unchanged and cannot be scheduled.',
      body: PublishIn,
      optionalBody: true,
      errors: ['CONFLICT'],
      handler: async ({ caller }, { params, body }) =>
        out(caller, await videos.publish(caller.workspaceId, params.id, body.at ?? null)),
    }),
    defineRoute({
      ...requiresWrite('videos:write'),
      ...one,
      operationId: 'videos.unpublish',
      method: 'POST',
      path: '/videos/{id}/unpublish',
      summary: 'Unpublish a video',
      description: 'Also cancels a scheduled publication.',
      handler: async ({ caller }, { params }) =>
        out(caller, await videos.unpublish(caller.workspaceId, params.id)),
    }),
    defineRoute({
      ...requiresWrite('videos:write'),
      ...one,
      operationId: 'videos.retry',
      method: 'POST',
      path: '/videos/{id}/retry',
      summary: 'Retry processing',
      description: 'Returns 409 unless the video is FAILED and its file is available.',
      errors: ['CONFLICT'],
      handler: async ({ caller }, { params }) =>
        out(caller, await videos.retry(caller.workspaceId, params.id)),
    }),
  ];
}
