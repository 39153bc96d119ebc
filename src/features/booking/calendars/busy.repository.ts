import { type Expression, type SqlBool, sql } from 'kysely';
import { advisoryLock } from '../../../platform/db/advisory-lock.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { CUSTOM_PLAN } from '../../../platform/db/page.ts';

/** Half-open range from the start to the end of the buffer. */
export interface Span {
  startsAt: Date;
  freeAt: Date;
}

/** Owner of a busy interval. */
export type BusyOwner =
  | { bookingId: string }
  | { occurrenceId: string }
  | { sessionId: string }
  | { waitlistId: string };

/** Busy interval. All IDs are null for an external calendar. */
export interface BusyInterval extends Span {
  productId: string | null;
  bookingId: string | null;
  occurrenceId: string | null;
  waitlistId: string | null;
}

/** Locks the calendar of the workspace. Take this lock last: its holder must not wait for other locks. */
export async function lockCalendar(tx: Tx, workspaceId: string): Promise<void> {
  await advisoryLock(tx, `calendar ${workspaceId}`);
}

/**
 * Waits for transactions that insert, move or delete overlapping intervals.
 *
 * @returns false when an interval overlaps; the transaction remains usable.
 */
export async function insertBusy(
  tx: Tx,
  { workspaceId, productId, startsAt, freeAt }: Span & { workspaceId: string; productId: string },
  by: BusyOwner,
): Promise<boolean> {
  const { booking_id, occurrence_id, session_id, waitlist_id } = columnsOf(by);
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('calendar_busy')
    .columns([
      'calendar_number',
      'starts_at',
      'busy_until',
      'product_id',
      'booking_id',
      'occurrence_id',
      'session_id',
      'waitlist_id',
    ])
    .expression((eb) =>
      eb
        .selectFrom('workspace')
        .select((of) => [
          of.ref('calendar_number').as('calendar_number'),
          sql<Date>`${startsAt}::timestamptz`.as('starts_at'),
          sql<Date>`${freeAt}::timestamptz`.as('busy_until'),
          of.val(productId).as('product_id'),
          sql<string | null>`${booking_id}::text`.as('booking_id'),
          sql<string | null>`${occurrence_id}::text`.as('occurrence_id'),
          sql<string | null>`${session_id}::text`.as('session_id'),
          sql<string | null>`${waitlist_id}::text`.as('waitlist_id'),
        ])
        .where('id', '=', workspaceId),
    )
    .onConflict((conflict) => conflict.constraint('calendar_busy_once').doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Deletes the interval of an owner, which is free once the transaction commits. */
export function deleteBusy(tx: Tx, by: BusyOwner): Promise<(Span & { productId: string }) | undefined> {
  return tx
    .deleteFrom('calendar_busy')
    .where(isTakenBy(by))
    .returning(['starts_at as startsAt', 'busy_until as freeAt', 'product_id as productId'])
    .executeTakeFirst();
}

/** Transfers an interval to another owner. */
export async function reassignBusy(tx: Tx, from: BusyOwner, to: BusyOwner): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('calendar_busy')
    .set(columnsOf(to))
    .where(isTakenBy(from))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Lists overlapping intervals by start, including those of external calendars. */
export function listBusy(
  db: Db,
  workspaceId: string,
  { from, to }: { from: Date; to: Date },
): Promise<BusyInterval[]> {
  return db
    .selectFrom('calendar_busy')
    .innerJoin('workspace', 'workspace.calendar_number', 'calendar_busy.calendar_number')
    .select([
      'starts_at as startsAt',
      'busy_until as freeAt',
      sql<string | null>`product_id`.as('productId'),
      'booking_id as bookingId',
      'occurrence_id as occurrenceId',
      'waitlist_id as waitlistId',
    ])
    .where('workspace.id', '=', workspaceId)
    .where('busy_until', '>', from)
    .where('starts_at', '<', to)
    .unionAll(
      db
        .selectFrom('external_busy')
        .innerJoin('external_calendar', 'external_calendar.id', 'external_busy.calendar_id')
        .select([
          'starts_at as startsAt',
          'busy_until as freeAt',
          sql<string | null>`null::text`.as('productId'),
          sql<string | null>`null::text`.as('bookingId'),
          sql<string | null>`null::text`.as('occurrenceId'),
          sql<string | null>`null::text`.as('waitlistId'),
        ])
        .where('external_calendar.workspace_id', '=', workspaceId)
        .where('busy_until', '>', from)
        .where('starts_at', '<', to),
    )
    .orderBy('startsAt')
    .execute();
}

/**
 * Lists overlapping intervals in epoch milliseconds, as bytes in one row: thousands of rows or texts cost
 * more to write than to find.
 */
export async function listBusyMs(
  db: Db,
  workspaceId: string,
  { from, to }: { from: Date; to: Date },
): Promise<{ fromMs: number; toMs: number }[]> {
  const busy = sql`
    select starts_at, busy_until from calendar_busy
    join workspace on workspace.calendar_number = calendar_busy.calendar_number
    where workspace.id = ${workspaceId} and busy_until > ${from} and starts_at < ${to}
    union all
    select starts_at, busy_until from external_busy
    join external_calendar on external_calendar.id = external_busy.calendar_id
    where external_calendar.workspace_id = ${workspaceId} and busy_until > ${from} and starts_at < ${to}`;
  const { rows } = await sql<{ times: Buffer | null }>`
    ${CUSTOM_PLAN} select string_agg(timestamptz_send(starts_at) || timestamptz_send(busy_until), '') as times
    from (${busy}) busy`.execute(db);
  return readTimes(rows[0]?.times ?? Buffer.alloc(0));
}

/** Size of one `timestamptz_send` value: microseconds since 2000, in 64 bits. */
const TIME_BYTES = 8;
const EPOCH_MS = Date.UTC(2000, 0, 1);

function readTimes(bytes: Buffer): { fromMs: number; toMs: number }[] {
  const timeAt = (at: number) => bytes.readInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + TIME_BYTES / 2);
  const times: { fromMs: number; toMs: number }[] = [];
  for (let at = 0; at < bytes.length; at += 2 * TIME_BYTES) {
    times.push({
      fromMs: EPOCH_MS + Math.floor(timeAt(at) / 1000),
      toMs: EPOCH_MS + Math.ceil(timeAt(at + TIME_BYTES) / 1000),
    });
  }
  return times;
}

function columnsOf(by: BusyOwner) {
  return {
    booking_id: 'bookingId' in by ? by.bookingId : null,
    occurrence_id: 'occurrenceId' in by ? by.occurrenceId : null,
    session_id: 'sessionId' in by ? by.sessionId : null,
    waitlist_id: 'waitlistId' in by ? by.waitlistId : null,
  };
}

function isTakenBy(by: BusyOwner): Expression<SqlBool> {
  if ('bookingId' in by) return sql<SqlBool>`booking_id = ${by.bookingId}`;
  if ('occurrenceId' in by) return sql<SqlBool>`occurrence_id = ${by.occurrenceId}`;
  if ('sessionId' in by) return sql<SqlBool>`session_id = ${by.sessionId}`;
  return sql<SqlBool>`waitlist_id = ${by.waitlistId}`;
}
