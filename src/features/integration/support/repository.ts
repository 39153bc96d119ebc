import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { pagePerCombination } from '../../../platform/db/page-filters.ts';
import {
  type SupportMessageTable,
  type SupportTicketTable,
  VALUES,
} from '../../../platform/db/tables.generated.ts';

export type TicketRow = Selectable<SupportTicketTable>;
export type MessageRow = Selectable<SupportMessageTable>;

/** Filters of tickets; an absent filter matches every ticket. */
export interface TicketFilter {
  status?: readonly TicketRow['status'][] | undefined;
  category?: readonly TicketRow['category'][] | undefined;
}

/** Owner of the tickets: one account, or any for the operator. */
export type TicketScope = { accountId: string } | 'ANY';

function selectTickets(db: Db, whose: TicketScope) {
  const tickets = db.selectFrom('support_ticket').selectAll();
  return whose === 'ANY' ? tickets : tickets.where('account_id', '=', whose.accountId);
}

export function listTickets(
  db: Db,
  whose: TicketScope,
  { status, category }: TicketFilter,
  page: PageRequest,
): Promise<TicketRow[]> {
  const of = whose === 'ANY' ? {} : { account_id: whose.accountId };
  const listed = { table: 'support_ticket', prefix: 'tkt', of } as const;
  const { support_ticket: all } = VALUES;
  const each = { category: [category, all.category], status: [status, all.status] } as const;
  return db
    .selectFrom('support_ticket')
    .selectAll()
    .where(pagePerCombination(page, listed, each))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

export function findTicket(db: Db, whose: TicketScope, id: string): Promise<TicketRow | undefined> {
  return selectTickets(db, whose).where('id', '=', id).executeTakeFirst();
}

/** The row under a lock, which every change of the ticket and its messages takes first. */
export function lockTicket(tx: Tx, whose: TicketScope, id: string): Promise<TicketRow | undefined> {
  return selectTickets(tx, whose).where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

/** Counts the tickets of an account, and those that are not CLOSED. */
export async function countTickets(tx: Tx, accountId: string): Promise<{ all: number; unclosed: number }> {
  return tx
    .selectFrom('support_ticket')
    .select((eb) => [
      eb.fn.countAll<number>().as('all'),
      eb.fn.countAll<number>().filterWhere('status', '<>', 'CLOSED').as('unclosed'),
    ])
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow();
}

export function insertTicket(tx: Tx, row: Insertable<SupportTicketTable>): Promise<TicketRow> {
  return tx.insertInto('support_ticket').values(row).returningAll().executeTakeFirstOrThrow();
}

export function updateTicket(tx: Tx, id: string, change: Updateable<SupportTicketTable>): Promise<TicketRow> {
  return tx
    .updateTable('support_ticket')
    .set(change)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function insertMessage(tx: Tx, row: Insertable<SupportMessageTable>): Promise<MessageRow> {
  return tx.insertInto('support_message').values(row).returningAll().executeTakeFirstOrThrow();
}

/** Oldest first. */
export function listMessages(db: Db, ticketId: string): Promise<MessageRow[]> {
  return db
    .selectFrom('support_message')
    .selectAll()
    .where('ticket_id', '=', ticketId)
    .orderBy('id')
    .execute();
}

export async function countMessages(tx: Tx, ticketId: string): Promise<number> {
  const row = await tx
    .selectFrom('support_message')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('ticket_id', '=', ticketId)
    .executeTakeFirstOrThrow();
  return row.count;
}

/** Lists tickets of any account that were resolved no later than `time`. */
export async function resolvedBefore(db: Db, time: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('support_ticket')
    .select('id')
    .where('resolved_at', '<=', time)
    .orderBy('resolved_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** The number of the next report. */
export async function nextReport(tx: Tx): Promise<number> {
  const { rows } = await sql<{ number: number }>`select nextval('report_number')::int as number`.execute(tx);
  return rows[0]?.number ?? 1;
}

/** Deletes the reporter emails of reports closed before the given time. */
export async function deleteReporterEmails(db: Db, closedBefore: Date): Promise<void> {
  await db
    .updateTable('support_ticket')
    .set({ reporter_email: null })
    .where('status', '=', 'CLOSED')
    .where('reporter_email', 'is not', null)
    .where('last_message_at', '<', closedBefore)
    .execute();
}
