import { requiresRead, requiresWrite } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Limit, type Route } from '../../../http/route.ts';
import { CommaList, IdParams, parseList } from '../../../http/schema.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import {
  Message,
  MessageIn,
  Ticket,
  TicketIn,
  TicketWithMessages,
  toMessage,
  toTicket,
  toTicketWithMessages,
} from './schemas.ts';
import type { Support } from './service.ts';

const Id = IdParams('tkt', 'ticket');
const path = '/support/tickets';

/** docs/concepts/support.md#limits. */
const hourly = (bucket: string, max: number): Limit[] => [
  { bucket, per: 'key', max, windowSec: 3600, refusal: 'RATE_LIMITED' },
];
const NEW_TICKETS = hourly('support-tickets', 10);
const NEW_MESSAGES = hourly('support-messages', 60);

interface Deps {
  support: Support;
  cursors: CursorCodec;
}

/** `/support/tickets` (docs/concepts/support.md): of the account, whichever mode the key has. */
export function supportRoutes(deps: Deps): Route[] {
  return [...listRoutes(deps), ...singleRoutes(deps)];
}

function listRoutes({ support, cursors }: Deps): Route[] {
  const { status, category } = VALUES.support_ticket;
  return [
    defineRoute({
      ...requiresWrite('support:write'),
      operationId: 'support.create',
      method: 'POST',
      path,
      summary: 'Create a support ticket',
      description: 'Returns CONFLICT at 25 open tickets per account.',
      limits: NEW_TICKETS,
      body: TicketIn,
      reply: { status: 201, schema: Ticket },
      errors: ['CONFLICT'],
      handler: async ({ caller }, { body }) => toTicket(await support.open(caller, body)),
    }),
    defineRoute({
      ...requiresRead('support:read'),
      operationId: 'support.list',
      method: 'GET',
      path,
      summary: 'List support tickets',
      description: 'Belongs to the account: live and test keys return the same list.',
      query: listQuery({ status: CommaList(status), category: CommaList(category) }),
      reply: { status: 200, schema: Ticket, list: true },
      async handler({ caller }, { query }) {
        const list = new ListReader(cursors, `support:${caller.accountId}`, query);
        const filter = {
          status: parseList('status', status, query.status),
          category: parseList('category', category, query.category),
        };
        return list.page(await support.list(caller, filter, list.request), toTicket);
      },
    }),
  ];
}

function singleRoutes({ support }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresRead('support:read'),
      operationId: 'support.get',
      method: 'GET',
      path: `${path}/{id}`,
      summary: 'Get a support ticket',
      description: 'Messages of both sides, oldest first.',
      params: Id,
      reply: { status: 200, schema: TicketWithMessages },
      async handler({ caller }, { params }) {
        const { ticket, messages } = await support.get(caller, params.id);
        return toTicketWithMessages(ticket, messages);
      },
    }),
    defineRoute({
      ...requiresWrite('support:write'),
      operationId: 'support.reply',
      method: 'POST',
      path: `${path}/{id}/messages`,
      summary: 'Reply to a support ticket',
      description: 'Sets the ticket to OPEN, even if it was RESOLVED. Returns CONFLICT if it is CLOSED.',
      limits: NEW_MESSAGES,
      params: Id,
      body: MessageIn,
      reply: { status: 201, schema: Message },
      errors: ['CONFLICT'],
      handler: async ({ caller }, { params, body }) =>
        toMessage(await support.reply(caller.accountId, params.id, body.message)),
    }),
    defineRoute({
      ...requiresWrite('support:write'),
      operationId: 'support.close',
      method: 'POST',
      path: `${path}/{id}/close`,
      summary: 'Close a support ticket',
      description: 'Permanent: a closed ticket accepts no more replies. Idempotent.',
      params: Id,
      reply: { status: 200, schema: Ticket },
      handler: async ({ caller }, { params }) => toTicket(await support.close(caller, params.id)),
    }),
  ];
}
