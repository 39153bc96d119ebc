import Type, { type TObject } from 'typebox';
import { reads, writes } from '../../http/access.ts';
import { ListReader, listQuery } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { CommaList, Deleted, IdParams, parseList } from '../../http/schema.ts';
import type { Caller } from '../../kernel/access.ts';
import type { CursorCodec } from '../../kernel/cursor.ts';
import { VISIBILITIES } from '../../kernel/visibility.ts';
import { VALUES } from '../../platform/db/tables.generated.ts';
import type { VideoLinks } from '../playback/index.ts';
import type { ShownVideo } from './repository.ts';
import { newVideo, PublishIn, toVideo, Video, VideoIn, VideoPatch } from './schemas.ts';
import type { Videos } from './service.ts';

const Id = IdParams('vid', 'video');

const one = { params: Id, reply: { status: 200, schema: Video } } as const;

interface Deps {
  videos: Videos;
  links: VideoLinks;
  cursors: CursorCodec;
  /** The shape of an upload session. */
  Upload: TObject;
}

/** `/videos` and what is done with one (docs/concepts/videos.md). */
export function videoRoutes({ videos, links, cursors, Upload }: Deps): Route[] {
  const out = (caller: Caller, row: ShownVideo) => toVideo(row, { mode: caller.mode, links });
  return [
    defineRoute({
      ...writes('videos:write'),
      operationId: 'videos.create',
      method: 'POST',
      path: '/videos',
      summary: 'Create a video and an upload session for its file',
      description: 'The video is UPLOADING until its file has come to `upload.uploadUrl`.',
      body: VideoIn,
      reply: { status: 201, schema: newVideo(Upload) },
      errors: ['QUOTA_EXCEEDED', 'INSUFFICIENT_STORAGE'],
      async handler({ caller }, { body }) {
        const { video, upload } = await videos.create(caller, body);
        return { ...out(caller, video), upload };
      },
    }),
    defineRoute({
      ...reads('videos:read'),
      operationId: 'videos.list',
      method: 'GET',
      path: '/videos',
      summary: 'List videos',
      description:
        'Every video of the workspace but deleted ones, in whatever state. `q` looks for a part of the title.',
      query: listQuery({
        status: CommaList(VALUES.video.status),
        visibility: CommaList(VISIBILITIES),
        tag: Type.Optional(Type.String({ description: 'Videos that have this tag.' })),
        externalId: Type.Optional(Type.String({ description: 'Your own id.' })),
        streamId: Type.Optional(Type.String({ description: 'Recordings of this stream.' })),
        q: Type.Optional(
          Type.String({ minLength: 1, maxLength: 200, description: 'Part of the title, in any case.' }),
        ),
      }),
      reply: { status: 200, schema: Video, list: true },
      async handler({ caller }, { query }) {
        const list = new ListReader(cursors, `videos:${caller.workspaceId}`, query);
        const status = parseList('status', VALUES.video.status, query.status);
        const visibility = parseList('visibility', VISIBILITIES, query.visibility);
        const { tag, externalId, streamId, q } = query;
        // Nothing beside the filters: without one a page is planned once.
        const filter = { status, visibility, tag, externalId, streamId, q };
        const rows = await videos.list(caller.workspaceId, filter, list.request);
        return list.page(rows, (row) => out(caller, row));
      },
    }),
    defineRoute({
      ...reads('videos:read'),
      ...one,
      operationId: 'videos.get',
      method: 'GET',
      path: '/videos/{id}',
      summary: 'Get a video',
      description:
        'With its state, its renditions, captions and chapters. `playbackUrl` is there as soon as one rendition can be played.',
      handler: async ({ caller }, { params }) => out(caller, await videos.get(caller.workspaceId, params.id)),
    }),
    defineRoute({
      ...writes('videos:write'),
      ...one,
      operationId: 'videos.update',
      method: 'PATCH',
      path: '/videos/{id}',
      summary: 'Change a video',
      description: 'Members that are left out stay as they are; null empties what may be empty.',
      body: VideoPatch,
      handler: async ({ caller }, { params, body }) =>
        out(caller, await videos.update(caller.workspaceId, params.id, body)),
    }),
    defineRoute({
      ...writes('videos:write'),
      operationId: 'videos.delete',
      method: 'DELETE',
      path: '/videos/{id}',
      summary: 'Delete a video',
      description: 'It is gone at once, and so is what it counts of the storage. Its files go after 30 days.',
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

function stateRoutes(videos: Videos, out: (caller: Caller, row: ShownVideo) => Video): Route[] {
  return [
    defineRoute({
      ...writes('videos:write'),
      ...one,
      operationId: 'videos.publish',
      method: 'POST',
      path: '/videos/{id}/publish',
      summary: 'Publish a video, now or later',
      description:
        'A PRIVATE video becomes PUBLIC, at once or at the time `at`. Any other is published already: it stays as it is, and cannot be published later.',
      body: PublishIn,
      optionalBody: true,
      errors: ['CONFLICT'],
      handler: async ({ caller }, { params, body }) =>
        out(caller, await videos.publish(caller.workspaceId, params.id, body.at ?? null)),
    }),
    defineRoute({
      ...writes('videos:write'),
      ...one,
      operationId: 'videos.unpublish',
      method: 'POST',
      path: '/videos/{id}/unpublish',
      summary: 'Make a video private',
      description: 'A plan to publish it later is void.',
      handler: async ({ caller }, { params }) =>
        out(caller, await videos.unpublish(caller.workspaceId, params.id)),
    }),
    defineRoute({
      ...writes('videos:write'),
      ...one,
      operationId: 'videos.retry',
      method: 'POST',
      path: '/videos/{id}/retry',
      summary: 'Process a failed video again',
      description: '409 unless the video is FAILED and its file is there.',
      errors: ['CONFLICT'],
      handler: async ({ caller }, { params }) =>
        out(caller, await videos.retry(caller.workspaceId, params.id)),
    }),
  ];
}
