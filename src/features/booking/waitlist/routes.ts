import Type from 'typebox';
import { requiresRead, requiresWrite } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { CommaList, IdParams, parseList } from '../../../http/schema.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { MailCaps } from '../../integration/mail/index.ts';
import { toEntry, WaitlistEntry, WaitlistIn } from './schemas.ts';
import type { Waitlist } from './service.ts';

const Id = IdParams('wl', 'entry');
const STATUSES = VALUES.waitlist_entry.status;

interface Deps {
  waitlist: Waitlist;
  mailCaps: Pick<MailCaps, 'from'>;
  cursors: CursorCodec;
}

/** `/booking/waitlist`, and joining it (docs/concepts/booking-waitlist.md). */
export function waitlistRoutes({ waitlist, mailCaps, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresWrite('booking:write'),
      operationId: 'waitlist.join',
      method: 'POST',
      path: '/booking/products/{id}/waitlist',
      summary: 'Join the waitlist',
      description: 'If a spot is available, book it instead. The person is notified by email.',
      params: IdParams('bkp', 'product'),
      body: WaitlistIn,
      reply: { status: 201, schema: WaitlistEntry },
      errors: ['CONFLICT'],
      handler: async ({ caller: { workspaceId, mode } }, { params, body }) =>
        toEntry(
          await waitlist.join(workspaceId, params.id, body, {
            isTyped: false,
            countMail: mailCaps.from({ actorId: workspaceId }),
          }),
          mode,
        ),
    }),
    defineRoute({
      ...requiresRead('booking:read'),
      operationId: 'waitlist.list',
      method: 'GET',
      path: '/booking/waitlist',
      summary: 'List waitlist entries',
      description: 'Includes converted and closed entries.',
      query: listQuery({
        productId: Type.Optional(
          Type.String({ maxLength: 64, description: 'Only entries of this product.' }),
        ),
        cohortId: Type.Optional(
          Type.String({
            maxLength: 64,
            description: 'Only entries for this cohort, or offered a seat in it.',
          }),
        ),
        status: CommaList(STATUSES),
      }),
      reply: { status: 200, schema: WaitlistEntry, list: true },
      async handler({ caller: { workspaceId, mode } }, { query }) {
        const list = new ListReader(cursors, `waitlist:${workspaceId}`, query);
        const { productId, cohortId, status } = query;
        const filters = { productId, cohortId, statuses: parseList('status', STATUSES, status) };
        const rows = await waitlist.list(workspaceId, filters, list.request);
        return list.page(rows, (row) => toEntry(row, mode));
      },
    }),
    defineRoute({
      ...requiresRead('booking:read'),
      operationId: 'waitlist.get',
      method: 'GET',
      path: '/booking/waitlist/{id}',
      summary: 'Get a waitlist entry',
      description: 'Returns the person, the spot, and until when a spot is held for them.',
      params: Id,
      reply: { status: 200, schema: WaitlistEntry },
      handler: async ({ caller: { workspaceId, mode } }, { params }) =>
        toEntry(await waitlist.get(workspaceId, params.id), mode),
    }),
    defineRoute({
      ...requiresWrite('booking:write'),
      operationId: 'waitlist.remove',
      method: 'DELETE',
      path: '/booking/waitlist/{id}',
      summary: 'Remove a waitlist entry',
      description: 'The entry remains with status REMOVED. A held spot is offered to the next person.',
      params: Id,
      reply: { status: 200, schema: WaitlistEntry },
      errors: ['CONFLICT'],
      handler: async ({ caller: { workspaceId, mode } }, { params }) =>
        toEntry(await waitlist.remove(workspaceId, params.id), mode),
    }),
  ];
}
