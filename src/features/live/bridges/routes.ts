import Type from 'typebox';
import { requiresRead, requiresWrite } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { CommaList, Deleted, IdParams, parseList } from '../../../http/schema.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import { Bridge, BridgeIn, toBridge } from './schemas.ts';
import type { Bridges } from './service.ts';

const Id = IdParams('brg', 'bridge');

interface Deps {
  bridges: Bridges;
  cursors: CursorCodec;
}

/** `/bridges` (docs/concepts/bridges.md). */
export function bridgeRoutes({ bridges, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresWrite('streams:write'),
      operationId: 'bridges.create',
      method: 'POST',
      path: '/bridges',
      summary: 'Create a bridge',
      description: 'Starts immediately. Returns CONFLICT if the stream has a signal or a bridge.',
      body: BridgeIn,
      reply: { status: 201, schema: Bridge },
      errors: ['CONFLICT', 'QUOTA_EXCEEDED'],
      handler: async ({ caller }, { body }) =>
        toBridge(await bridges.create(caller.workspaceId, body), caller.mode),
    }),
    defineRoute({
      ...requiresRead('streams:read'),
      operationId: 'bridges.list',
      method: 'GET',
      path: '/bridges',
      summary: 'List bridges',
      description: 'Includes ended bridges until they are deleted.',
      query: listQuery({
        status: CommaList(VALUES.bridge.status),
        type: CommaList(VALUES.bridge.type),
        targetId: Type.Optional(Type.String({ description: 'Only bridges to this stream or room.' })),
      }),
      reply: { status: 200, schema: Bridge, list: true },
      async handler({ caller: { workspaceId, mode } }, { query }) {
        const list = new ListReader(cursors, `bridges:${workspaceId}`, query);
        const filter = {
          status: parseList('status', VALUES.bridge.status, query.status),
          type: parseList('type', VALUES.bridge.type, query.type),
          targetId: query.targetId,
        };
        const rows = await bridges.list(workspaceId, filter, list.request);
        return list.page(rows, (row) => toBridge(row, mode));
      },
    }),
    defineRoute({
      ...requiresRead('streams:read'),
      operationId: 'bridges.get',
      method: 'GET',
      path: '/bridges/{id}',
      summary: 'Get a bridge',
      description: 'Includes the status and the last error.',
      params: Id,
      reply: { status: 200, schema: Bridge },
      handler: async ({ caller }, { params }) =>
        toBridge(await bridges.get(caller.workspaceId, params.id), caller.mode),
    }),
    defineRoute({
      ...requiresWrite('streams:write'),
      operationId: 'bridges.delete',
      method: 'DELETE',
      path: '/bridges/{id}',
      summary: 'Stop and delete a bridge',
      description: 'Media stops within two seconds.',
      params: Id,
      reply: { status: 200, schema: Deleted },
      async handler({ caller }, { params }) {
        await bridges.remove(caller.workspaceId, params.id);
        return { id: params.id, deleted: true };
      },
    }),
  ];
}
