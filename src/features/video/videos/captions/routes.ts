import Type from 'typebox';
import { requiresRead, requiresWrite } from '../../../../http/access.ts';
import { namedSchema } from '../../../../http/named-schema.ts';
import { ListReader, unpagedListQuery } from '../../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../../http/route.ts';
import { Deleted, IdParams } from '../../../../http/schema.ts';
import type { CursorCodec } from '../../../../kernel/cursor.ts';
import { badRequest } from '../../../../kernel/errors.ts';
import type { VideoLinks } from '../../../audience/playback/index.ts';
import type { VideoDetails } from '../repository.ts';
import { Caption, toCaption, toLinked } from '../schemas.ts';
import { CAPTIONS_MAX_BYTES, type Captions } from './service.ts';

const Id = IdParams('vid', 'video');

const CaptionsIn = namedSchema(
  'CaptionSet',
  Type.Object({
    language: Type.String({
      minLength: 1,
      maxLength: 35,
      description: 'BCP 47 language tag.',
      examples: ['en', 'pt-BR'],
    }),
    label: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: '\\S',
        description: 'Name shown in players; defaults to the language name.',
      }),
    ),
    content: Type.Optional(
      Type.String({
        maxLength: CAPTIONS_MAX_BYTES,
        description: 'WebVTT or SubRip (SRT) content, if no file is sent.',
      }),
    ),
  }),
  { language: 'en', label: 'English', content: 'WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n' },
);

interface Deps {
  captions: Captions;
  links: VideoLinks;
  cursors: CursorCodec;
}

/** The captions of a video (docs/concepts/videos.md). */
export function captionRoutes({ captions, links, cursors }: Deps): Route[] {
  const out = (video: VideoDetails, row: Parameters<typeof toCaption>[0]) =>
    toCaption(row, toLinked(video, true), links);
  return [
    defineRoute({
      ...requiresRead('videos:read'),
      operationId: 'videos.captions',
      method: 'GET',
      path: '/videos/{id}/captions',
      summary: 'List captions',
      description: 'One entry per language, with the URL of its WebVTT file.',
      params: Id,
      query: unpagedListQuery({}),
      reply: { status: 200, schema: Caption, list: true },
      async handler({ caller }, { params, query }) {
        const list = new ListReader(cursors, `captions:${caller.workspaceId}:${params.id}`, query);
        const { video, rows } = await captions.list(caller.workspaceId, params.id, list.request);
        return list.page(rows, (row) => out(video, row));
      },
    }),
    defineRoute({
      ...requiresWrite('videos:write'),
      operationId: 'videos.putCaptions',
      method: 'POST',
      path: '/videos/{id}/captions',
      summary: 'Add or replace captions',
      description:
        'Accepts WebVTT or SubRip (SRT) in UTF-8, up to 1 MB, as a file or as `content`. Served as WebVTT.',
      upload: { field: 'file', maxBytes: CAPTIONS_MAX_BYTES },
      params: Id,
      body: CaptionsIn,
      reply: { status: 201, schema: Caption },
      errors: ['CONFLICT', 'INSUFFICIENT_STORAGE'],
      async handler({ caller, upload }, { params, body }) {
        const { language, label, content = null } = body;
        const sent =
          upload === undefined
            ? { field: 'content', text: content }
            : { field: 'file', text: decode(upload.bytes) };
        const input = { language, label, ...sent };
        const { video, row } = await captions.put(caller.workspaceId, params.id, input);
        return out(video, row);
      },
    }),
    defineRoute({
      ...requiresWrite('videos:write'),
      operationId: 'videos.deleteCaptions',
      method: 'DELETE',
      path: '/videos/{id}/captions/{language}',
      summary: 'Delete captions',
      description: 'The response `id` is the language.',
      params: Type.Object({
        ...Id.properties,
        language: Type.String({ description: 'BCP 47 language tag.', examples: ['en'] }),
      }),
      reply: { status: 200, schema: Deleted },
      async handler({ caller }, { params }) {
        await captions.remove(caller.workspaceId, params.id, params.language);
        return { id: params.language, deleted: true };
      },
    }),
  ];
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw badRequest('file', 'The file must be UTF-8 text.');
  }
}
