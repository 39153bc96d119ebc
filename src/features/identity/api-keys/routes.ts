import Type from 'typebox';
import { anyKey, requiresGate } from '../../../http/access.ts';
import { ListReader, unpagedListQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route, type RouteOptions } from '../../../http/route.ts';
import { Deleted, IdParams, OneOf } from '../../../http/schema.ts';
import { type Caller, keyIdOf, MODES } from '../../../kernel/access.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { badRequest } from '../../../kernel/errors.ts';
import { ApiKey, ApiKeyIn, ApiKeyWithSecret, RotateIn, toApiKey } from './schemas.ts';
import type { ApiKeys } from './service.ts';

const Id = IdParams('key', 'API key');

const OptionalId = Type.Object({
  id: Type.Optional(
    Type.String({
      description: 'Key ID, in the body or the query.',
      examples: ['key_01kafe3n4pfx2v9yq6m8d7t5zr'],
    }),
  ),
});
const path = '/me/api-keys';

/** One page, unless there are very many. */
const ListQuery = unpagedListQuery({
  mode: Type.Optional(OneOf(MODES, { description: 'Omit for both.' })),
  isUsable: Type.Optional(
    Type.Boolean({
      description: 'Only keys that are neither revoked nor expired. If omitted, returns all keys.',
    }),
  ),
});

interface Deps {
  apiKeys: Pick<ApiKeys, 'mint' | 'listOwn' | 'getOwn' | 'revokeOwn' | 'rotate'>;
  cursors: CursorCodec;
}

/** `/me/api-keys` (docs/concepts/api-keys.md). */
export function apiKeyRoutes({ apiKeys, cursors }: Deps): Route[] {
  const remove = async (caller: Caller, id: string) => {
    await apiKeys.revokeOwn(caller, id);
    return { id, deleted: true };
  };
  const removal = {
    ...requiresGate('owner'),
    recentPassword: true,
    method: 'DELETE',
    summary: 'Revoke an API key',
    description:
      'A key can always revoke itself; revoking another key requires an owner credential. Takes effect immediately on this node and within 5 seconds on others.',
    reply: { status: 200, schema: Deleted },
    errors: ['NOT_FOUND'],
  } as const satisfies RouteOptions;
  return [
    defineRoute({
      ...requiresGate('owner'),
      recentPassword: true,
      operationId: 'apiKeys.create',
      method: 'POST',
      path,
      summary: 'Create an API key',
      description:
        'A key can grant at most the access of the credential that creates it. Keys created from a session allow 10,000 requests per minute; keys created with a key allow 1,000. The key is returned only in this response.',
      body: ApiKeyIn,
      reply: { status: 201, schema: ApiKeyWithSecret },
      errors: ['MINT_CEILING_EXCEEDED', 'QUOTA_EXCEEDED'],
      async handler({ caller }, { body }) {
        const { row, key } = await apiKeys.mint(caller, body);
        return { ...toApiKey(row, keyIdOf(caller)), key };
      },
    }),
    defineRoute({
      ...anyKey,
      operationId: 'apiKeys.list',
      method: 'GET',
      path,
      summary: 'List API keys',
      description:
        'A live key lists the keys of both modes; a test key lists test keys only. The same applies to sessions. Includes revoked keys.',
      query: ListQuery,
      reply: { status: 200, schema: ApiKey, list: true },
      async handler({ caller }, { query }) {
        const list = new ListReader(cursors, `api-keys:${caller.workspaceId}`, query);
        const { mode, isUsable } = query;
        const rows = await apiKeys.listOwn(caller, { mode, isUsable }, list.request);
        return list.page(rows, (row) => toApiKey(row, keyIdOf(caller)));
      },
    }),
    defineRoute({
      ...removal,
      operationId: 'apiKeys.deleteNamed',
      path,
      ownKey: { in: ['body', 'query'], name: 'id' },
      query: OptionalId,
      body: OptionalId,
      optionalBody: true,
      async handler({ caller }, { query, body }) {
        const id = body.id ?? query.id;
        if (id === undefined) throw badRequest('id', 'id is required in the body or the query.');
        return remove(caller, id);
      },
    }),
    defineRoute({
      ...anyKey,
      operationId: 'apiKeys.get',
      method: 'GET',
      path: `${path}/{id}`,
      summary: 'Get an API key',
      description:
        'A live key can read keys of both modes; a test key can read test keys only. The secret is never returned again.',
      params: Id,
      reply: { status: 200, schema: ApiKey },
      handler: async ({ caller }, { params }) =>
        toApiKey(await apiKeys.getOwn(caller, params.id), keyIdOf(caller)),
    }),
    defineRoute({
      ...removal,
      operationId: 'apiKeys.delete',
      path: `${path}/{id}`,
      ownKey: { in: ['params'], name: 'id' },
      params: Id,
      handler: ({ caller }, { params }) => remove(caller, params.id),
    }),
    defineRoute({
      ...requiresGate('owner'),
      recentPassword: true,
      operationId: 'apiKeys.rotate',
      method: 'POST',
      path: `${path}/{id}/rotate`,
      summary: "Rotate an API key's secret",
      description:
        'The ID, restrictions and counters are unchanged. The old secret stays valid for `overlapSec`.',
      params: Id,
      body: RotateIn,
      optionalBody: true,
      reply: { status: 200, schema: ApiKeyWithSecret },
      errors: ['CONFLICT', 'MINT_CEILING_EXCEEDED'],
      async handler({ caller }, { params, body }) {
        const { row, key } = await apiKeys.rotate(caller, params.id, body.overlapSec);
        return { ...toApiKey(row, keyIdOf(caller)), key };
      },
    }),
  ];
}
