import { requiresRead, requiresWrite } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { Deleted, IdParams } from '../../../http/schema.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { DiscountCode, DiscountCodeIn, DiscountCodePatch, toDiscountCode } from './schemas.ts';
import type { DiscountCodes } from './service.ts';

const Id = IdParams('dsc', 'discount code');

interface Deps {
  discountCodes: DiscountCodes;
  cursors: CursorCodec;
  clock: Clock;
}

/** `/booking/discount-codes` (docs/concepts/discount-codes.md). */
export function discountCodeRoutes({ discountCodes, cursors, clock }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresWrite('booking:write'),
      operationId: 'discountCodes.create',
      method: 'POST',
      path: '/booking/discount-codes',
      summary: 'Create a discount code',
      description: 'Exactly one of `percentOff` and `amountCentsOff` is required.',
      body: DiscountCodeIn,
      reply: { status: 201, schema: DiscountCode },
      errors: ['CONFLICT', 'NOT_FOUND'],
      handler: async ({ caller: { workspaceId, mode } }, { body }) =>
        toDiscountCode(await discountCodes.create(workspaceId, body), { mode, now: clock.now() }),
    }),
    defineRoute({
      ...requiresRead('booking:read'),
      operationId: 'discountCodes.list',
      method: 'GET',
      path: '/booking/discount-codes',
      summary: 'List discount codes',
      description: 'Includes exhausted and expired codes.',
      query: listQuery({}),
      reply: { status: 200, schema: DiscountCode, list: true },
      async handler({ caller: { workspaceId, mode } }, { query }) {
        const list = new ListReader(cursors, `discount codes:${workspaceId}`, query);
        const now = clock.now();
        const rows = await discountCodes.list(workspaceId, list.request);
        return list.page(rows, (row) => toDiscountCode(row, { mode, now }));
      },
    }),
    defineRoute({
      ...requiresWrite('booking:write'),
      operationId: 'discountCodes.update',
      method: 'PATCH',
      path: '/booking/discount-codes/{id}',
      summary: 'Update a discount code',
      description: 'After the first use, only `isActive`, `maxUses`, `expiresAt` and `notes` can change.',
      params: Id,
      body: DiscountCodePatch,
      reply: { status: 200, schema: DiscountCode },
      errors: ['CONFLICT'],
      handler: async ({ caller: { workspaceId, mode } }, { params, body }) =>
        toDiscountCode(await discountCodes.update(workspaceId, params.id, body), { mode, now: clock.now() }),
    }),
    defineRoute({
      ...requiresWrite('booking:write'),
      operationId: 'discountCodes.delete',
      method: 'DELETE',
      path: '/booking/discount-codes/{id}',
      summary: 'Delete a discount code',
      description: 'Existing purchases are not affected.',
      params: Id,
      reply: { status: 200, schema: Deleted },
      async handler({ caller }, { params }) {
        await discountCodes.remove(caller.workspaceId, params.id);
        return { id: params.id, deleted: true };
      },
    }),
  ];
}
