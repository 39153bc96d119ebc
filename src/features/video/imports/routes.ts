import { requiresRead, requiresWrite } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route, type RouteOptions } from '../../../http/route.ts';
import { CommaList, IdParams, parseList } from '../../../http/schema.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import { Import, ImportIn, toImport } from './schemas.ts';
import type { Imports } from './service.ts';

const Id = IdParams('imp', 'import');

const one = { params: Id, reply: { status: 200, schema: Import } } as const satisfies RouteOptions;

interface Deps {
  imports: Imports;
  cursors: CursorCodec;
}

/** `/imports` (docs/concepts/imports.md). */
export function importRoutes({ imports, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresWrite('imports:write'),
      operationId: 'imports.create',
      method: 'POST',
      path: '/imports',
      summary: 'Import a video from a URL',
      description:
        'Downloads the file in the background as video `videoId`. Follows up to five redirects; private network addresses are rejected.',
      body: ImportIn,
      reply: { status: 201, schema: Import },
      errors: ['QUOTA_EXCEEDED'],
      handler: async ({ caller }, { body }) => toImport(await imports.create(caller.workspaceId, body)),
    }),
    defineRoute({
      ...requiresRead('imports:read'),
      operationId: 'imports.list',
      method: 'GET',
      path: '/imports',
      summary: 'List imports',
      description: 'Includes the progress of running imports.',
      query: listQuery({
        status: CommaList(VALUES.import.status),
        provider: CommaList(VALUES.import.provider),
      }),
      reply: { status: 200, schema: Import, list: true },
      async handler({ caller }, { query }) {
        const list = new ListReader(cursors, `imports:${caller.workspaceId}`, query);
        const filter = {
          status: parseList('status', VALUES.import.status, query.status),
          provider: parseList('provider', VALUES.import.provider, query.provider),
        };
        return list.page(await imports.list(caller.workspaceId, filter, list.request), toImport);
      },
    }),
    defineRoute({
      ...requiresRead('imports:read'),
      ...one,
      operationId: 'imports.get',
      method: 'GET',
      path: '/imports/{id}',
      summary: 'Get an import',
      description:
        'Includes the status and the bytes received. `error` is the reason a FAILED import failed.',
      handler: async ({ caller }, { params }) => toImport(await imports.get(caller.workspaceId, params.id)),
    }),
    defineRoute({
      ...requiresWrite('imports:write'),
      ...one,
      operationId: 'imports.cancel',
      method: 'POST',
      path: '/imports/{id}/cancel',
      summary: 'Cancel an import',
      description: 'Fails the video. Returns 409 if the import has already finished.',
      errors: ['CONFLICT'],
      handler: async ({ caller }, { params }) =>
        toImport(await imports.cancel(caller.workspaceId, params.id)),
    }),
    defineRoute({
      ...requiresWrite('imports:write'),
      ...one,
      operationId: 'imports.retry',
      method: 'POST',
      path: '/imports/{id}/retry',
      summary: 'Retry an import',
      description:
        'Downloads the file again, for a new video. Returns 409 unless the import is FAILED or CANCELED.',
      errors: ['CONFLICT', 'QUOTA_EXCEEDED'],
      handler: async ({ caller }, { params }) => toImport(await imports.retry(caller.workspaceId, params.id)),
    }),
  ];
}
