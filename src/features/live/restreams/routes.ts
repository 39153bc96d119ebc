import Type from 'typebox';
import { anyKey, requiresRead, requiresWrite } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { Deleted, IdParams, PathId } from '../../../http/schema.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import type { RestreamWithTargets } from './repository.ts';
import {
  PlatformPreset,
  presets,
  Restream,
  RestreamIn,
  RestreamPatch,
  Target,
  TargetIn,
  TargetPatch,
  toRestream,
  toTarget,
} from './schemas.ts';
import type { Restreams } from './service.ts';
import type { RestreamTargets } from './targets.service.ts';

const Id = IdParams('rst', 'restream');
const TargetId = Type.Object({ ...Id.properties, targetId: PathId('rtg', 'target') });

interface Deps {
  restreams: Restreams;
  targets: RestreamTargets;
  cursors: CursorCodec;
}

/** `/restreams` (docs/concepts/restreams.md). */
export function restreamRoutes(deps: Deps): Route[] {
  return [...wholeRoutes(deps), ...actionRoutes(deps), ...targetRoutes(deps)];
}

function wholeRoutes({ restreams, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresWrite('restreams:write'),
      operationId: 'restreams.create',
      method: 'POST',
      path: '/restreams',
      summary: 'Create a restream',
      description:
        'Created with its targets. The plan limit applies to the targets of all restreams together.',
      idempotent: 'leased',
      body: RestreamIn,
      reply: { status: 201, schema: Restream },
      errors: ['QUOTA_EXCEEDED', 'CONFLICT'],
      handler: async ({ caller, idempotentRunId }, { body }) =>
        toRestream(await restreams.create(caller, body, idempotentRunId), caller.mode),
    }),
    defineRoute({
      ...requiresRead('restreams:read'),
      operationId: 'restreams.list',
      method: 'GET',
      path: '/restreams',
      summary: 'List restreams',
      description: 'Includes targets and their status.',
      query: listQuery({
        streamId: Type.Optional(Type.String({ description: 'Only restreams of this stream.' })),
      }),
      reply: { status: 200, schema: Restream, list: true },
      async handler({ caller: { workspaceId, mode } }, { query }) {
        const list = new ListReader(cursors, `restreams:${workspaceId}`, query);
        const rows = await restreams.list(workspaceId, query, list.request);
        const placed = rows.map((whole) => ({ id: whole.row.id, whole }));
        return list.page(placed, ({ whole }) => toRestream(whole, mode));
      },
    }),
    defineRoute({
      ...anyKey,
      operationId: 'restreams.platforms',
      method: 'GET',
      path: '/restreams/platforms',
      summary: 'List supported platforms',
      description: 'Ingest URLs and stream key formats.',
      reply: { status: 200, schema: Type.Array(PlatformPreset) },
      handler: async () => presets(),
    }),
    defineRoute({
      ...requiresRead('restreams:read'),
      operationId: 'restreams.get',
      method: 'GET',
      path: '/restreams/{id}',
      summary: 'Get a restream',
      description: 'Includes targets and their status.',
      params: Id,
      reply: { status: 200, schema: Restream },
      handler: async ({ caller }, { params }) =>
        toRestream(await restreams.get(caller.workspaceId, params.id), caller.mode),
    }),
    defineRoute({
      ...requiresWrite('restreams:write'),
      operationId: 'restreams.update',
      method: 'PATCH',
      path: '/restreams/{id}',
      summary: 'Update a restream',
      description: 'Can be changed while running; setting `enabled` to false stops it.',
      params: Id,
      body: RestreamPatch,
      reply: { status: 200, schema: Restream },
      handler: async ({ caller }, { params, body }) =>
        toRestream(await restreams.update(caller.workspaceId, params.id, body), caller.mode),
    }),
    defineRoute({
      ...requiresWrite('restreams:write'),
      operationId: 'restreams.delete',
      method: 'DELETE',
      path: '/restreams/{id}',
      summary: 'Delete a restream',
      description: 'Stops the restream if it is running.',
      params: Id,
      reply: { status: 200, schema: Deleted },
      async handler({ caller }, { params }) {
        await restreams.remove(caller.workspaceId, params.id);
        return { id: params.id, deleted: true };
      },
    }),
  ];
}

function actionRoutes({ restreams }: Deps): Route[] {
  const action = (
    name: 'start' | 'stop',
    summary: string,
    description: string,
    run: (workspaceId: string, id: string) => Promise<RestreamWithTargets>,
  ) =>
    defineRoute({
      ...requiresWrite('restreams:write'),
      operationId: `restreams.${name}`,
      method: 'POST',
      path: `/restreams/{id}/${name}`,
      summary,
      description,
      params: Id,
      reply: { status: 200, schema: Restream },
      errors: name === 'start' ? ['CONFLICT'] : [],
      handler: async ({ caller }, { params }) =>
        toRestream(await run(caller.workspaceId, params.id), caller.mode),
    });
  return [
    action(
      'start',
      'Start a restream',
      'Starts as soon as there is a signal, regardless of the start mode.',
      restreams.start,
    ),
    action(
      'stop',
      'Stop a restream',
      'Stays stopped until the next broadcast or signal, or the next start.',
      restreams.stop,
    ),
  ];
}

function targetRoutes({ targets }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresWrite('restreams:write'),
      operationId: 'restreams.addTarget',
      method: 'POST',
      path: '/restreams/{id}/targets',
      summary: 'Add a restream target',
      description: 'If the restream is running, sending to the new target starts immediately.',
      params: Id,
      body: TargetIn,
      reply: { status: 201, schema: Target },
      errors: ['QUOTA_EXCEEDED'],
      handler: async ({ caller }, { params, body }) =>
        toTarget(await targets.add(caller.workspaceId, params.id, body)),
    }),
    defineRoute({
      ...requiresWrite('restreams:write'),
      operationId: 'restreams.updateTarget',
      method: 'PATCH',
      path: '/restreams/{id}/targets/{targetId}',
      summary: 'Update a restream target',
      description:
        'Can be changed while running: `enabled` starts or stops sending, and a new URL or key reconnects.',
      params: TargetId,
      body: TargetPatch,
      reply: { status: 200, schema: Target },
      handler: async ({ caller }, { params, body }) =>
        toTarget(await targets.update(caller.workspaceId, params.id, params.targetId, body)),
    }),
    defineRoute({
      ...requiresWrite('restreams:write'),
      operationId: 'restreams.removeTarget',
      method: 'DELETE',
      path: '/restreams/{id}/targets/{targetId}',
      summary: 'Remove a restream target',
      description: 'Stops sending to the target. Other targets are not affected.',
      params: TargetId,
      reply: { status: 200, schema: Deleted },
      async handler({ caller }, { params }) {
        await targets.remove(caller.workspaceId, params.id, params.targetId);
        return { id: params.targetId, deleted: true };
      },
    }),
    defineRoute({
      ...requiresWrite('restreams:write'),
      operationId: 'restreams.retryTarget',
      method: 'POST',
      path: '/restreams/{id}/targets/{targetId}/retry',
      summary: 'Retry a restream target',
      description:
        'Skips the remaining backoff, and retries a target that failed permanently (FATAL). A connected target is not affected.',
      params: TargetId,
      reply: { status: 200, schema: Target },
      handler: async ({ caller }, { params }) =>
        toTarget(await targets.retry(caller.workspaceId, params.id, params.targetId)),
    }),
  ];
}
