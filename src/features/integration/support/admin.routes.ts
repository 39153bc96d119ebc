import Type, { type Static } from 'typebox';
import { requiresGate } from '../../../http/access.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import {
  CommaList,
  IdOf,
  IdParams,
  Nullable,
  NullableObject,
  OneOf,
  parseList,
} from '../../../http/schema.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { TicketRow } from './repository.ts';
import { reportedPath } from './rules.ts';
import { Message, MessageIn, Ticket, TicketWithMessages, toMessage, toTicket } from './schemas.ts';
import type { Support } from './service.ts';

const Id = IdParams('tkt', 'ticket');
const path = '/admin/tickets';
const { status, category, priority, reported_type: reportedTypes } = VALUES.support_ticket;

const ownerFields = {
  account: NullableObject(Type.Object({ id: IdOf('usr'), email: Type.String() })),
  reporterEmail: Nullable(Type.String({ description: 'Where replies to a report are sent.' })),
  reported: NullableObject(
    Type.Object({
      type: OneOf(reportedTypes),
      id: Type.String({ description: 'ID of the reported item; for a channel, the username.' }),
      url: Type.String(),
    }),
  ),
};
const AdminTicket = namedSchema('AdminTicket', Type.Object({ ...Ticket.properties, ...ownerFields }));
const AdminTicketWithMessages = namedSchema(
  'AdminTicketWithMessages',
  Type.Object({ ...TicketWithMessages.properties, ...ownerFields }),
);
const Change = namedSchema(
  'AdminTicketUpdate',
  Type.Object({
    status: Type.Optional(OneOf(['RESOLVED', 'CLOSED'])),
    priority: Type.Optional(OneOf(priority)),
  }),
  { status: 'RESOLVED' },
);

interface Deps {
  support: Support;
  cursors: CursorCodec;
  publicUrl: string;
  emailOf(accountId: string): Promise<string>;
}

/** `/admin/tickets` (docs/concepts/support.md#administrator-access): of every account, and reports. */
export function adminSupportRoutes(deps: Deps): Route[] {
  const { support, cursors } = deps;
  const show = (row: TicketRow) => toAdminTicket(deps, row);
  return [
    defineRoute({
      ...requiresGate('admin'),
      operationId: 'support.adminList',
      method: 'GET',
      path,
      summary: 'List all support tickets (admin)',
      description: 'Tickets without an account are reports from public pages.',
      query: listQuery({ status: CommaList(status), category: CommaList(category) }),
      reply: { status: 200, schema: AdminTicket, list: true },
      async handler(_context, { query }) {
        const list = new ListReader(cursors, 'admin-tickets', query);
        const filter = {
          status: parseList('status', status, query.status),
          category: parseList('category', category, query.category),
        };
        const page = list.page(await support.list('ANY', filter, list.request), (row) => row);
        return { ...page, items: await Promise.all(page.items.map(show)) };
      },
    }),
    defineRoute({
      ...requiresGate('admin'),
      operationId: 'support.adminGet',
      method: 'GET',
      path: `${path}/{id}`,
      summary: 'Get any support ticket (admin)',
      description: 'Includes the messages.',
      params: Id,
      reply: { status: 200, schema: AdminTicketWithMessages },
      async handler(_context, { params }) {
        const { ticket, messages } = await support.get('ANY', params.id);
        return { ...(await show(ticket)), messages: messages.map(toMessage) };
      },
    }),
    defineRoute({
      ...requiresGate('admin'),
      operationId: 'support.adminReply',
      method: 'POST',
      path: `${path}/{id}/messages`,
      summary: 'Reply to a support ticket (admin)',
      description:
        'Sets the ticket to PENDING. The reply to a report is emailed if the reporter left an address.',
      params: Id,
      body: MessageIn,
      reply: { status: 201, schema: Message },
      errors: ['CONFLICT'],
      handler: async (_context, { params, body }) => toMessage(await support.answer(params.id, body.message)),
    }),
    defineRoute({
      ...requiresGate('admin'),
      operationId: 'support.adminUpdate',
      method: 'PATCH',
      path: `${path}/{id}`,
      summary: 'Update a support ticket (admin)',
      description: 'Returns CONFLICT when resolving a closed ticket.',
      params: Id,
      body: Change,
      reply: { status: 200, schema: AdminTicket },
      errors: ['CONFLICT'],
      handler: async (_context, { params, body }) => show(await support.change(params.id, body)),
    }),
  ];
}

async function toAdminTicket(
  { emailOf, publicUrl }: Deps,
  row: TicketRow,
): Promise<Static<typeof AdminTicket>> {
  const { account_id: id, reporter_email: reporterEmail, reported_type: type, reported_id: reportedId } = row;
  return {
    ...toTicket(row),
    account: id === null ? null : { id, email: await emailOf(id) },
    reporterEmail,
    reported:
      type === null || reportedId === null
        ? null
        : { type, id: reportedId, url: publicUrl + reportedPath(type, reportedId) },
  };
}
