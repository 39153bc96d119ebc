import Type from 'typebox';
import { anyKey, requiresGate } from '../../../http/access.ts';
import { ListReader, unpagedListQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { IdParams } from '../../../http/schema.ts';
import { type Caller, hasPermission } from '../../../kernel/access.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import type { TierRow } from './repository.ts';
import { Tier, TierEnded, TierIn, TierPatch, toTier } from './schemas.ts';
import type { Tiers } from './service.ts';

const Id = IdParams('tier', 'tier');

/** Returns all tiers that are not archived in one page, since their number is limited. */
const ListQuery = unpagedListQuery({
  username: Type.Optional(Type.String({ maxLength: 64, description: 'Username of the creator.' })),
});

interface Deps {
  tiers: Tiers;
  cursors: CursorCodec;
}

/** `/tiers` (docs/concepts/tiers.md). */
export function tierRoutes({ tiers, cursors }: Deps): Route[] {
  const out = async (caller: Caller, row: TierRow) => {
    const creator = await tiers.creatorOf(caller.accountId);
    return toTier(row, { creator, mode: caller.mode, seesMembers: hasPermission(caller, 'finance:read') });
  };
  return [
    defineRoute({
      ...requiresGate('finance-write'),
      operationId: 'tiers.create',
      method: 'POST',
      path: '/tiers',
      summary: 'Create a tier',
      description: 'At most 100 active tiers.',
      body: TierIn,
      reply: { status: 201, schema: Tier },
      errors: ['CONFLICT'],
      handler: async ({ caller }, { body }) => out(caller, await tiers.create(caller.workspaceId, body)),
    }),
    defineRoute({
      ...anyKey,
      operationId: 'tiers.list',
      method: 'GET',
      path: '/tiers',
      summary: 'List tiers',
      description: "Lists your own tiers, or another creator's tiers that are open to new members.",
      query: ListQuery,
      reply: { status: 200, schema: Tier, list: true },
      errors: ['NOT_FOUND'],
      async handler({ caller }, { query }) {
        const list = new ListReader(cursors, `tiers:${caller.workspaceId}`, query);
        const { rows, creator, isOwn } = await tiers.list(caller, query.username, list.request);
        const seesMembers = isOwn && hasPermission(caller, 'finance:read');
        return list.page(rows, (row) => toTier(row, { creator, mode: caller.mode, seesMembers }));
      },
    }),
    defineRoute({
      ...anyKey,
      operationId: 'tiers.get',
      method: 'GET',
      path: '/tiers/{id}',
      summary: 'Get a tier',
      description: 'Returns one of your own tiers, or a tier of another creator that accepts members.',
      params: Id,
      reply: { status: 200, schema: Tier },
      async handler({ caller }, { params }) {
        const { row, creator, isOwn } = await tiers.view(caller, params.id);
        return toTier(row, {
          creator,
          mode: caller.mode,
          seesMembers: isOwn && hasPermission(caller, 'finance:read'),
        });
      },
    }),
    defineRoute({
      ...requiresGate('finance-write'),
      operationId: 'tiers.update',
      method: 'PATCH',
      path: '/tiers/{id}',
      summary: 'Update a tier',
      description: 'Existing members keep the price they joined at unless `migrateExisting` is true.',
      params: Id,
      body: TierPatch,
      reply: { status: 200, schema: Tier },
      errors: ['CONFLICT'],
      handler: async ({ caller }, { params, body }) =>
        out(caller, await tiers.update(caller.workspaceId, params.id, body)),
    }),
    defineRoute({
      ...requiresGate('finance-write'),
      operationId: 'tiers.delete',
      method: 'DELETE',
      path: '/tiers/{id}',
      summary: 'Archive or delete a tier',
      description: 'A tier with purchases or open checkouts is archived, and its members stay.',
      params: Id,
      reply: { status: 200, schema: TierEnded },
      async handler({ caller }, { params }) {
        const row = await tiers.remove(caller.workspaceId, params.id);
        return row === null ? { id: params.id, deleted: true } : out(caller, row);
      },
    }),
  ];
}
