import Type from 'typebox';
import { ListReader, listQuery } from '../../http/pagination.ts';
import { defineRoute, NoBody, NoParams, NoQuery, type Route } from '../../http/route.ts';
import { Deleted, parseList } from '../../http/schema.ts';
import { type Caller, mayWrite } from '../../kernel/access.ts';
import type { CursorCodec } from '../../kernel/cursor.ts';
import { VISIBILITIES } from '../../kernel/visibility.ts';
import type { ShownStream } from './repository.ts';
import {
  Stream,
  StreamIn,
  type StreamLinks,
  StreamPatch,
  StreamSession,
  toSession,
  toStream,
} from './schemas.ts';
import type { Streams } from './service.ts';

const Id = Type.Object({ id: Type.String() });
const write = { auth: 'key', permission: 'streams:write', gate: null, originLock: false } as const;
const read = { ...write, permission: 'streams:read', idempotent: false } as const;

interface Deps {
  streams: Streams;
  links: StreamLinks;
  cursors: CursorCodec;
}

/** `/streams` (contract 3, 4.8; `api.md` C3.2). */
export function streamRoutes({ streams, links, cursors }: Deps): Route[] {
  const out = (caller: Caller, row: ShownStream, streamKey: string | null = null) =>
    toStream(row, { mode: caller.mode, links, streamKey });
  const action = (
    name: 'start' | 'stop' | 'end',
    summary: string,
    run: (workspaceId: string, id: string) => Promise<ShownStream>,
  ) =>
    defineRoute({
      ...write,
      operationId: `streams.${name}`,
      method: 'POST',
      path: `/streams/{id}/${name}`,
      summary,
      idempotent: false,
      params: Id,
      query: NoQuery,
      body: NoBody,
      reply: { status: 200, schema: Stream },
      errors: name === 'start' ? ['NOT_FOUND', 'QUOTA_EXCEEDED', 'CONFLICT'] : ['NOT_FOUND'],
      handler: async ({ caller }, { params }) => out(caller, await run(caller.workspaceId, params.id)),
    });

  return [
    defineRoute({
      ...write,
      operationId: 'streams.create',
      method: 'POST',
      path: '/streams',
      summary: 'Create a stream',
      idempotent: true,
      params: NoParams,
      query: NoQuery,
      body: StreamIn,
      reply: { status: 201, schema: Stream },
      errors: [],
      async handler({ caller }, { body }) {
        const { row, streamKey } = await streams.create(caller.workspaceId, body);
        return out(caller, row, streamKey);
      },
    }),
    defineRoute({
      ...read,
      operationId: 'streams.list',
      method: 'GET',
      path: '/streams',
      summary: 'List streams',
      params: NoParams,
      query: listQuery({
        isLive: Type.Optional(Type.Boolean()),
        hasSignal: Type.Optional(Type.Boolean()),
        visibility: Type.Optional(Type.String({ description: 'One or more, comma-separated.' })),
      }),
      body: NoBody,
      reply: { status: 200, schema: Stream, list: true },
      errors: [],
      async handler({ caller }, { query }) {
        const list = new ListReader(cursors, `streams:${caller.workspaceId}`, query);
        const visibility = parseList('visibility', VISIBILITIES, query.visibility);
        const rows = await streams.list(caller.workspaceId, { ...query, visibility }, list.request);
        return list.page(rows, (row) => out(caller, row));
      },
    }),
    defineRoute({
      ...read,
      operationId: 'streams.get',
      method: 'GET',
      path: '/streams/{id}',
      summary: 'Get a stream',
      params: Id,
      query: NoQuery,
      body: NoBody,
      reply: { status: 200, schema: Stream },
      errors: ['NOT_FOUND'],
      async handler({ caller }, { params }) {
        const row = await streams.get(caller.workspaceId, params.id);
        return out(caller, row, mayWrite(caller, 'streams:write') ? streams.keyOf(row) : null);
      },
    }),
    defineRoute({
      ...write,
      operationId: 'streams.update',
      method: 'PATCH',
      path: '/streams/{id}',
      summary: 'Change a stream',
      idempotent: false,
      params: Id,
      query: NoQuery,
      body: StreamPatch,
      reply: { status: 200, schema: Stream },
      errors: ['NOT_FOUND', 'CONFLICT'],
      handler: async ({ caller }, { params, body }) =>
        out(caller, await streams.update(caller.workspaceId, params.id, body)),
    }),
    defineRoute({
      ...write,
      operationId: 'streams.delete',
      method: 'DELETE',
      path: '/streams/{id}',
      summary: 'Delete a stream',
      description: 'Cuts its encoder off. 409 while the stream is live.',
      idempotent: false,
      params: Id,
      query: NoQuery,
      body: NoBody,
      reply: { status: 200, schema: Deleted },
      errors: ['NOT_FOUND', 'CONFLICT'],
      async handler({ caller }, { params }) {
        await streams.remove(caller.workspaceId, params.id);
        return { id: params.id, deleted: true };
      },
    }),
    action('start', 'Go live', streams.start),
    action('stop', 'End the broadcast', streams.stop),
    action('end', 'End the broadcast', streams.stop),
    defineRoute({
      ...write,
      operationId: 'streams.rotateKey',
      method: 'POST',
      path: '/streams/{id}/rotate-key',
      summary: 'Replace the stream key',
      description: 'The old key stops working at once and its publisher is cut off.',
      idempotent: false,
      params: Id,
      query: NoQuery,
      body: NoBody,
      reply: { status: 200, schema: Stream },
      errors: ['NOT_FOUND'],
      async handler({ caller }, { params }) {
        const { row, streamKey } = await streams.rotateKey(caller.workspaceId, params.id);
        return out(caller, row, streamKey);
      },
    }),
    defineRoute({
      ...read,
      operationId: 'streams.sessions',
      method: 'GET',
      path: '/streams/{id}/sessions',
      summary: 'List the sessions of a stream',
      params: Id,
      query: listQuery({}),
      body: NoBody,
      reply: { status: 200, schema: StreamSession, list: true },
      errors: ['NOT_FOUND'],
      async handler({ caller }, { params, query }) {
        const list = new ListReader(cursors, `sessions:${caller.workspaceId}:${params.id}`, query);
        const rows = await streams.sessions(caller.workspaceId, params.id, list.request);
        return list.page(rows, toSession);
      },
    }),
  ];
}
