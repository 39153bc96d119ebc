import { requiresRead, requiresWrite } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { CommaList, IdParams, parseList } from '../../../http/schema.ts';
import type { Caller } from '../../../kernel/access.ts';
import { bookingPath } from '../../../kernel/booking-path.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { ProductRow } from './repository.ts';
import { Product, ProductEnded, ProductIn, ProductPatch, toProduct } from './schemas.ts';
import type { Products } from './service.ts';

const Id = IdParams('bkp', 'product');
const { type: TYPES, status: STATUSES } = VALUES.booking_product;

interface Deps {
  products: Products;
  cursors: CursorCodec;
  usernameOf(accountId: string): Promise<string>;
  /** URL without a trailing slash. */
  publicUrl: string;
}

/** `/booking/products` (docs/concepts/booking-products.md). */
export function productRoutes(deps: Deps): Route[] {
  return [...collection(deps), ...resource(deps)];
}

function viewOf({ products, usernameOf, publicUrl }: Deps) {
  return async ({ accountId, mode }: Caller, rows: readonly ProductRow[]) => {
    const creator = { username: await usernameOf(accountId), mode };
    const counts = await products.bookingCounts(rows.map(({ id }) => id));
    return (row: ProductRow) => {
      const url = `${publicUrl}${bookingPath(creator, row)}`;
      return toProduct(row, { mode, url, bookingCount: counts.get(row.id) ?? 0 });
    };
  };
}

function collection(deps: Deps): Route[] {
  const { products, cursors } = deps;
  const view = viewOf(deps);
  return [
    defineRoute({
      ...requiresWrite('booking:write'),
      operationId: 'products.create',
      method: 'POST',
      path: '/booking/products',
      summary: 'Create a booking product',
      description: 'Created as a draft. Defaults: one hour, one seat, no buffer, no recording.',
      body: ProductIn,
      reply: { status: 201, schema: Product },
      errors: ['CONFLICT'],
      handler: async ({ caller }, { body }) => {
        const row = await products.create(caller.workspaceId, body);
        return (await view(caller, [row]))(row);
      },
    }),
    defineRoute({
      ...requiresRead('booking:read'),
      operationId: 'products.list',
      method: 'GET',
      path: '/booking/products',
      summary: 'List booking products',
      description: 'Includes archived products.',
      query: listQuery({ status: CommaList(STATUSES), type: CommaList(TYPES) }),
      reply: { status: 200, schema: Product, list: true },
      async handler({ caller }, { query }) {
        const list = new ListReader(cursors, `products:${caller.workspaceId}`, query);
        const filters = {
          statuses: parseList('status', STATUSES, query.status),
          types: parseList('type', TYPES, query.type),
        };
        const rows = await products.list(caller.workspaceId, filters, list.request);
        return list.page(rows, await view(caller, rows));
      },
    }),
  ];
}

function resource(deps: Deps): Route[] {
  const { products } = deps;
  const view = viewOf(deps);
  const changes = (verb: 'publish' | 'unpublish', words: { summary: string; description: string }): Route =>
    defineRoute({
      ...requiresWrite('booking:write'),
      ...words,
      operationId: `products.${verb}`,
      method: 'POST',
      path: `/booking/products/{id}/${verb}`,
      params: Id,
      reply: { status: 200, schema: Product },
      errors: ['BAD_REQUEST', 'CONFLICT'],
      handler: async ({ caller }, { params }) => {
        const row = await products[verb](caller.workspaceId, params.id);
        return (await view(caller, [row]))(row);
      },
    });
  return [
    defineRoute({
      ...requiresRead('booking:read'),
      operationId: 'products.get',
      method: 'GET',
      path: '/booking/products/{id}',
      summary: 'Get a booking product',
      description: 'Includes the URL of its page while it is published.',
      params: Id,
      reply: { status: 200, schema: Product },
      handler: async ({ caller }, { params }) => {
        const row = await products.get(caller.workspaceId, params.id);
        return (await view(caller, [row]))(row);
      },
    }),
    defineRoute({
      ...requiresWrite('booking:write'),
      operationId: 'products.update',
      method: 'PATCH',
      path: '/booking/products/{id}',
      summary: 'Update a booking product',
      description:
        'Existing bookings keep their time and price. `type` cannot change after the first booking.',
      params: Id,
      body: ProductPatch,
      reply: { status: 200, schema: Product },
      errors: ['CONFLICT'],
      handler: async ({ caller }, { params, body }) => {
        const row = await products.update(caller.workspaceId, params.id, body);
        return (await view(caller, [row]))(row);
      },
    }),
    defineRoute({
      ...requiresWrite('booking:write'),
      operationId: 'products.delete',
      method: 'DELETE',
      path: '/booking/products/{id}',
      summary: 'Archive or delete a booking product',
      description: 'A product with bookings is archived; its bookings are unchanged.',
      params: Id,
      reply: { status: 200, schema: ProductEnded },
      async handler({ caller }, { params }) {
        const row = await products.remove(caller.workspaceId, params.id);
        return row === null ? { id: params.id, deleted: true } : (await view(caller, [row]))(row);
      },
    }),
    changes('publish', {
      summary: 'Publish a booking product',
      description: 'A ONE_TO_ONE product needs weekly availability, a COHORT product a cohort. Idempotent.',
    }),
    changes('unpublish', {
      summary: 'Unpublish a booking product',
      description: 'The product can no longer be booked; existing bookings are unchanged.',
    }),
  ];
}
