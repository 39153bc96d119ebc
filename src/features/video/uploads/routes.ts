import { requiresRead, requiresWrite } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route, type RouteOptions } from '../../../http/route.ts';
import { CommaList, Deleted, IdParams, parseList } from '../../../http/schema.ts';
import { type Caller, mayWrite } from '../../../kernel/access.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { UploadRow } from './repository.ts';
import { CompleteIn, toUpload, Upload, UploadIn } from './schemas.ts';
import type { Uploads } from './service.ts';

const Id = IdParams('upl', 'upload');

/** Endpoint that creates a session; its policy also applies to tus creations, which are not JSON. */
export const CREATION = {
  ...requiresWrite('upload:write'),
  operationId: 'uploads.create',
  method: 'POST',
  path: '/upload',
  summary: 'Create an upload session',
  description:
    'Returns an `uploadUrl` that accepts the bytes without a key. Reserves storage for the whole file.',
  reply: { status: 201, schema: Upload },
  errors: ['NOT_FOUND', 'CONFLICT', 'QUOTA_EXCEEDED', 'INSUFFICIENT_STORAGE'],
} as const satisfies RouteOptions;

/** `/upload` (docs/concepts/uploads.md). */
export function uploadRoutes({ uploads, cursors }: { uploads: Uploads; cursors: CursorCodec }): Route[] {
  const out = (caller: Caller, row: UploadRow) =>
    toUpload(row, mayWrite(caller, 'upload:write') ? uploads.urlOf(row) : null);
  return [
    defineRoute({
      ...CREATION,
      body: UploadIn,
      handler: async ({ caller }, { body }) => out(caller, await uploads.create(caller, body)),
    }),
    defineRoute({
      ...requiresRead('upload:read'),
      operationId: 'uploads.list',
      method: 'GET',
      path: '/upload',
      summary: 'List upload sessions',
      description: '`uploadUrl`, which accepts bytes without a key, is null for read-only keys.',
      query: listQuery({
        status: CommaList(VALUES.upload.status),
      }),
      reply: { status: 200, schema: Upload, list: true },
      async handler({ caller }, { query }) {
        const list = new ListReader(cursors, `uploads:${caller.workspaceId}`, query);
        const status = parseList('status', VALUES.upload.status, query.status);
        const rows = await uploads.list(caller.workspaceId, { status }, list.request);
        return list.page(rows, (row) => out(caller, row));
      },
    }),
    defineRoute({
      ...requiresRead('upload:read'),
      operationId: 'uploads.get',
      method: 'GET',
      path: '/upload/{id}',
      summary: 'Get an upload session',
      description: '`receivedBytes` counts durably stored bytes; resume an interrupted transfer from there.',
      params: Id,
      reply: { status: 200, schema: Upload },
      handler: async ({ caller }, { params }) =>
        out(caller, await uploads.get(caller.workspaceId, params.id)),
    }),
    defineRoute({
      ...requiresWrite('upload:write'),
      operationId: 'uploads.complete',
      method: 'POST',
      path: '/upload/{id}/complete',
      summary: 'Complete an upload',
      description:
        'An upload completes automatically with its last byte; this call verifies it against a SHA-256. Returns 409 while bytes are missing. A mismatch returns 400 and fails the upload and its video, or the file replacement.',
      params: Id,
      body: CompleteIn,
      optionalBody: true,
      reply: { status: 200, schema: Upload },
      errors: ['CONFLICT', 'UPLOAD_EXPIRED'],
      handler: async ({ caller }, { params, body }) =>
        out(caller, await uploads.complete(caller.workspaceId, params.id, body.sha256)),
    }),
    defineRoute({
      ...requiresWrite('upload:write'),
      operationId: 'uploads.cancel',
      method: 'DELETE',
      path: '/upload/{id}',
      summary: 'Cancel an upload',
      description:
        'Deletes the received data. The video fails, or keeps its current file. Returns 409 if the upload is complete.',
      params: Id,
      reply: { status: 200, schema: Deleted },
      errors: ['CONFLICT'],
      async handler({ caller }, { params }) {
        await uploads.remove(caller.workspaceId, params.id);
        return { id: params.id, deleted: true };
      },
    }),
  ];
}
