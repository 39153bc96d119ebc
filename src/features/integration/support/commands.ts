import { VALUES } from '../../../platform/db/tables.generated.ts';
import { type CommandRunner, oneOf, optional, required } from '../../commands.ts';
import type { Accounts } from '../../identity/accounts/index.ts';
import type { TicketRow } from './repository.ts';
import { toMessage, toTicket, toTicketWithMessages } from './schemas.ts';
import type { Support } from './service.ts';

const { status: STATUSES, category: CATEGORIES, priority: PRIORITIES } = VALUES.support_ticket;

const list = {
  name: 'support list',
  usage: `support list [--account EMAIL] [--status ${STATUSES.join('|')}] [--category ${CATEGORIES.join('|')}]`,
  options: ['status', 'category'],
};
const show = { name: 'support show', usage: 'support show --id TICKET_ID' };
const reply = {
  name: 'support reply',
  usage: 'support reply --id TICKET_ID --message TEXT',
  options: ['message'],
};
const resolve = { name: 'support resolve', usage: 'support resolve --id TICKET_ID' };
const close = { name: 'support close', usage: 'support close --id TICKET_ID' };

const prioritise = {
  name: 'support set-priority',
  usage: `support set-priority --id TICKET_ID --priority ${PRIORITIES.join('|')}`,
  options: ['priority'],
};

export const supportCommands = [list, show, reply, resolve, close, prioritise];

/** The oldest of the list: they have waited longest. */
const MAX_TICKETS = 500;
const PAGE = {
  fetchLimit: MAX_TICKETS,
  limit: MAX_TICKETS,
  order: 'asc',
  after: null,
  createdAfter: null,
  createdBefore: null,
} as const;
const UNCLOSED = STATUSES.filter((status) => status !== 'CLOSED');

interface Deps {
  support: Support;
  accounts: Pick<Accounts, 'byId' | 'byEmail'>;
}

/** Returns the operator's commands on tickets of any account (docs/guides/operations.md#support-tickets). */
export function supportRunners({ support, accounts }: Deps): CommandRunner[] {
  /** A report belongs to no account; its reporter may have left an email address. */
  const emailOf = async ({ account_id: id, reporter_email: email }: TicketRow) =>
    id === null ? (email ?? 'anonymous') : (await accounts.byId(id)).email;
  return [
    {
      command: list,
      async run(values) {
        const email = optional(values, 'account');
        const status = oneOf(values, 'status', STATUSES);
        const category = oneOf(values, 'category', CATEGORIES);
        const filter = {
          status: status === undefined ? UNCLOSED : [status],
          category: category === undefined ? undefined : [category],
        };
        const whose = email === undefined ? 'ANY' : { accountId: (await accounts.byEmail(email)).id };
        const rows = await support.list(whose, filter, PAGE);
        const tickets = await Promise.all(
          rows.map(async (row) => ({ ...toTicket(row), account: await emailOf(row) })),
        );
        const lines = tickets.map(
          ({ id, status, priority, category, account, subject }) =>
            `${id}  ${status.padEnd(8)}  ${priority.padEnd(6)}  ${category.padEnd(9)}  ${account}  ${oneLine(subject)}`,
        );
        return { data: tickets, text: lines.join('\n') };
      },
    },
    {
      command: show,
      async run(values) {
        const { ticket, messages } = await support.get('ANY', required(values, 'id'));
        const account = await emailOf(ticket);
        const shown = { ...toTicketWithMessages(ticket, messages), account };
        const head = [
          `${shown.id}, ticket ${shown.number} of ${account}`,
          `${oneLine(shown.subject)}`,
          `${shown.status}, ${shown.priority}, ${shown.category}, ${aboutOf(ticket)}`,
        ];
        const said = shown.messages.map((one) => `${one.createdAt} ${one.author}\n${printable(one.message)}`);
        return { data: shown, text: [head.join('\n'), ...said].join('\n\n') };
      },
    },
    {
      command: reply,
      async run(values) {
        const id = required(values, 'id');
        const message = await support.answer(id, required(values, 'message'));
        return { data: toMessage(message), text: `replied on ${id}` };
      },
    },
    {
      command: resolve,
      async run(values) {
        const ticket = await support.change(required(values, 'id'), { status: 'RESOLVED' });
        return { data: toTicket(ticket), text: `resolved ${ticket.id}` };
      },
    },
    {
      command: close,
      async run(values) {
        const ticket = await support.change(required(values, 'id'), { status: 'CLOSED' });
        return { data: toTicket(ticket), text: `closed ${ticket.id}` };
      },
    },
    {
      command: prioritise,
      async run(values) {
        required(values, 'priority');
        const id = required(values, 'id');
        const ticket = await support.change(id, { priority: oneOf(values, 'priority', PRIORITIES) });
        return { data: toTicket(ticket), text: `${ticket.id} is ${ticket.priority}` };
      },
    },
  ];
}

function aboutOf({ reported_type: type, reported_id: id, request_id: requestId }: TicketRow): string {
  return type === null ? `request ${requestId ?? 'unknown'}` : `about the ${type.toLowerCase()} ${id}`;
}

/**
 * Replaces control characters in user text, which could move the cursor of a terminal or change its color.
 */
function printable(text: string): string {
  return text.replace(/[^\P{C}\n\t]/gu, '�');
}

function oneLine(text: string): string {
  return printable(text).replace(/\s+/g, ' ');
}
