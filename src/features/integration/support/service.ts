import { type AppendEvent, type Events, nextSequence } from '../../../events/index.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { lockWorkspace, workspaceOf } from '../../../platform/db/workspace.ts';
import { supportTicketClosed, supportTicketReplied } from './events.ts';
import type { MessageRow, TicketFilter, TicketRow, TicketScope } from './repository.ts';
import * as repository from './repository.ts';
import {
  MAX_MESSAGE,
  MAX_MESSAGES,
  MAX_OPEN_TICKETS,
  nextStatus,
  REPORTER_EMAIL_RETENTION_MS,
  RESOLVED_MS,
  type TicketAction,
} from './rules.ts';
import type { TicketIn } from './schemas.ts';

interface Deps {
  db: Db;
  events: Events;
  clock: Clock;
  mailbox: Mailbox;
}

/** Account that opens a ticket, and workspace that gets its events. */
interface Opener {
  accountId: string;
  workspaceId: string;
}

export interface Conversation {
  ticket: TicketRow;
  /** Oldest first. */
  messages: MessageRow[];
}

/**
 * Support tickets (docs/concepts/support.md). They belong to the account, so both of its modes share them; the id of
 * another account's is NOT_FOUND.
 */
export interface Support {
  /** @throws {AppError} CONFLICT when the account has too many that are not closed. */
  open(opener: Opener, input: TicketIn): Promise<TicketRow>;
  list(whose: TicketScope, filter: TicketFilter, page: PageRequest): Promise<TicketRow[]>;
  get(whose: TicketScope, id: string): Promise<Conversation>;
  /** Adds a partner's message. @throws {AppError} CONFLICT when it is closed or has too many messages. */
  reply(accountId: string, id: string, message: string): Promise<MessageRow>;
  /** Closes a ticket. Idempotent. */
  close(whose: TicketScope, id: string): Promise<TicketRow>;
  /**
   * Adds an operator's message. @throws {AppError} BAD_REQUEST, field `message`; CONFLICT when it is closed.
   */
  answer(id: string, message: string): Promise<MessageRow>;
  /**
   * Changes a ticket for the operator; idempotent. @throws {AppError} CONFLICT for resolving one that is
   * closed.
   */
  change(id: string, change: TicketChange): Promise<TicketRow>;
  /** Closes tickets resolved for seven days, and deletes the reporter emails of reports closed long ago. */
  closeResolved(): Promise<void>;
}

/** Changes to a ticket; omitted fields are unchanged. */
export interface TicketChange {
  status?: 'RESOLVED' | 'CLOSED' | undefined;
  priority?: TicketRow['priority'] | undefined;
}

/** Sends the operator's reply to a report. */
interface Mailbox {
  enqueue(tx: Tx, mail: { kind: string; to: string; subject: string; text: string }): Promise<void>;
}

/** Maximum tickets processed in one run of the task; the rest waits for the next one. */
const BATCH = 500;

/** One change of a ticket, in its transaction and under its lock. */
interface Change {
  tx: Tx;
  append: AppendEvent;
  ticket: TicketRow;
  now: Date;
}

export function createSupport(deps: Deps): Support {
  const { db, events, clock, mailbox } = deps;

  const locked = <T>(whose: TicketScope, id: string, work: (change: Change) => Promise<T>): Promise<T> =>
    events.transaction(async (tx, append) => {
      const ticket = await repository.lockTicket(tx, whose, id);
      if (ticket === undefined) throw notFound();
      return work({ tx, append, ticket, now: clock.now() });
    });

  return {
    open: (opener, input) => openTicket(deps, opener, input),
    list: (whose, filter, page) => repository.listTickets(db, whose, filter, page),
    async get(whose, id) {
      const ticket = await repository.findTicket(db, whose, id);
      if (ticket === undefined) throw notFound();
      return { ticket, messages: await repository.listMessages(db, id) };
    },
    reply: (accountId, id, message) =>
      locked({ accountId }, id, async (change) => {
        const row = await addMessage(change, 'PARTNER', message);
        await move(change, 'PARTNER_REPLIES');
        return row;
      }),
    close: (whose, id) => locked(whose, id, (change) => move(change, 'CLOSE')),
    async answer(id, message) {
      if (message.trim() === '' || message.length > MAX_MESSAGE) {
        throw badRequest('message', `message must have 1 to ${MAX_MESSAGE} characters.`);
      }
      return locked('ANY', id, async (change) => {
        const row = await addMessage(change, 'STAFF', message);
        await move(change, 'STAFF_REPLIES');
        const { subject, reporter_email: to } = change.ticket;
        if (to !== null) {
          const mail = {
            kind: 'report-answered',
            to,
            subject: 'Your report',
            text: answerText(subject, message),
          };
          await mailbox.enqueue(change.tx, mail);
        }
        return row;
      });
    },
    change: (id, { status, priority }) =>
      locked('ANY', id, async (change) => {
        let { ticket } = change;
        if (status !== undefined) ticket = await move(change, status === 'CLOSED' ? 'CLOSE' : 'RESOLVE');
        if (priority !== undefined && priority !== ticket.priority) {
          ticket = await repository.updateTicket(change.tx, id, { priority });
        }
        return ticket;
      }),
    async closeResolved() {
      const before = dateFromMs(clock.ms() - RESOLVED_MS);
      for (const id of await repository.resolvedBefore(db, before, BATCH)) {
        // Someone may have replied since.
        await locked('ANY', id, async (change) => {
          const { resolved_at: resolvedAt } = change.ticket;
          if (resolvedAt !== null && resolvedAt <= before) await move(change, 'CLOSE');
        });
      }
      await repository.deleteReporterEmails(db, dateFromMs(clock.ms() - REPORTER_EMAIL_RETENTION_MS));
    },
  };
}

function openTicket({ events, clock }: Deps, opener: Opener, input: TicketIn): Promise<TicketRow> {
  const { accountId, workspaceId } = opener;
  return events.transaction(async (tx) => {
    // Both modes count together, so they take one lock.
    await lockWorkspace(tx, await workspaceOf(tx, accountId, 'live'));
    const { all, unclosed } = await repository.countTickets(tx, accountId);
    if (unclosed >= MAX_OPEN_TICKETS) {
      const message = `The account has ${unclosed} open tickets. Reply to one of them, or close some.`;
      throw new AppError('CONFLICT', { message });
    }
    const now = clock.now();
    const ticket = await repository.insertTicket(tx, {
      id: newId('tkt', clock),
      account_id: accountId,
      workspace_id: workspaceId,
      number: all + 1,
      subject: input.subject,
      category: input.category ?? 'OTHER',
      priority: input.priority ?? 'NORMAL',
      status: 'OPEN',
      request_id: input.requestId?.toLowerCase() ?? null,
      last_message_at: now,
      resolved_at: null,
      created_at: now,
    });
    await addMessage({ tx, ticket, now }, 'PARTNER', input.message);
    return ticket;
  });
}

function answerText(subject: string, message: string): string {
  return `You reported: ${subject}.

${message}

You cannot reply to this email. To add details, submit another report.
`;
}

/** @throws {AppError} CONFLICT for a partner's message where there are too many. */
async function addMessage(
  { tx, ticket, now }: Pick<Change, 'tx' | 'ticket' | 'now'>,
  author: MessageRow['author'],
  message: string,
): Promise<MessageRow> {
  if (author === 'PARTNER' && (await repository.countMessages(tx, ticket.id)) >= MAX_MESSAGES) {
    const text = `Limit of ${MAX_MESSAGES} messages reached for this ticket. Open another one.`;
    throw new AppError('CONFLICT', { message: text });
  }
  const id = newId('tkm');
  return repository.insertMessage(tx, { id, ticket_id: ticket.id, author, message, created_at: now });
}

/** The state table of docs/concepts/support.md#states, each step with its event. */
async function move({ tx, append, ticket, now }: Change, deed: TicketAction): Promise<TicketRow> {
  const status = nextStatus(ticket.status, deed);
  if (status === null) {
    throw new AppError('CONFLICT', { message: 'The ticket is closed. Open a new one.' });
  }
  const isReply = deed === 'PARTNER_REPLIES' || deed === 'STAFF_REPLIES';
  if (status === ticket.status && !isReply) return ticket;
  const moved = await repository.updateTicket(tx, ticket.id, {
    status,
    resolved_at: status === 'RESOLVED' ? now : null,
    ...(isReply ? { last_message_at: now } : {}),
  });
  if (deed === 'STAFF_REPLIES') await emitTicketEvent({ tx, append, ticket }, supportTicketReplied);
  if (deed === 'CLOSE') await emitTicketEvent({ tx, append, ticket }, supportTicketClosed);
  return moved;
}

async function emitTicketEvent(
  { tx, append, ticket: { id, number, workspace_id: workspaceId } }: Pick<Change, 'tx' | 'append' | 'ticket'>,
  event: typeof supportTicketReplied | typeof supportTicketClosed,
): Promise<void> {
  // A report belongs to no workspace.
  if (workspaceId === null) return;
  const sequence = await nextSequence(tx, 'support_ticket', id);
  await append(event, workspaceId, { ticketId: id, number, sequence });
}
