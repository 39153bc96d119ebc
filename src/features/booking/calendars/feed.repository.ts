import { type Insertable, type Selectable, sql } from 'kysely';
import type { Db } from '../../../platform/db/index.ts';
import type { BookingFeedTable } from '../../../platform/db/tables.generated.ts';
import { isAccountActive } from '../../../platform/db/workspace.ts';

export type FeedRow = Selectable<BookingFeedTable>;

export function findFeed(db: Db, workspaceId: string): Promise<FeedRow | undefined> {
  return db.selectFrom('booking_feed').selectAll().where('workspace_id', '=', workspaceId).executeTakeFirst();
}

/** Finds the workspace of a feed; suspended creators are excluded. */
export async function findFeedWorkspace(db: Db, tokenHash: Uint8Array): Promise<string | undefined> {
  const row = await db
    .selectFrom('booking_feed')
    .select('workspace_id')
    .where('token_hash', '=', tokenHash)
    .where(isAccountActive('booking_feed.workspace_id'))
    .executeTakeFirst();
  return row?.workspace_id;
}

/** Inserts the feed of the workspace or replaces the stored one. */
export async function putFeed(db: Db, row: Insertable<BookingFeedTable>): Promise<FeedRow> {
  return db
    .insertInto('booking_feed')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('workspace_id').doUpdateSet({
        token_hash: row.token_hash,
        token_encrypted: row.token_encrypted,
        created_at: row.created_at,
      }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteFeed(db: Db, workspaceId: string): Promise<void> {
  await db.deleteFrom('booking_feed').where('workspace_id', '=', workspaceId).execute();
}

/** Booking, class or session with time in the calendar. */
export interface FeedItem {
  id: string;
  title: string;
  /** Customer of a booking. */
  customer: string | null;
  /** Booked seats of a class. */
  booked: number | null;
  capacity: number | null;
  /** Cohort of a session. */
  cohort: string | null;
  sequence: number;
  startsAt: Date;
  endsAt: Date;
  createdAt: Date;
  updatedAt: Date;
}

/** Lists confirmed items of the calendar that end after `since`, by start: no holds and no offers. */
export function listFeedItems(db: Db, workspaceId: string, since: Date, most: number): Promise<FeedItem[]> {
  return db
    .selectFrom('calendar_busy as busy')
    .innerJoin('workspace', 'workspace.calendar_number', 'busy.calendar_number')
    .innerJoin('booking_product as product', 'product.id', 'busy.product_id')
    .leftJoin('booking', 'booking.id', 'busy.booking_id')
    .leftJoin('class_occurrence as class', 'class.id', 'busy.occurrence_id')
    .leftJoin('cohort_session as session', 'session.id', 'busy.session_id')
    .leftJoin('cohort', 'cohort.id', 'session.cohort_id')
    .select([
      sql<string>`coalesce(booking.id, class.id, session.id)`.as('id'),
      'product.title',
      'booking.customer_name as customer',
      'class.booked_count as booked',
      'class.capacity',
      'cohort.title as cohort',
      sql<number>`coalesce(booking.ics_sequence, 0)`.as('sequence'),
      'busy.starts_at as startsAt',
      sql<Date>`coalesce(booking.ends_at, class.ends_at, session.ends_at)`.as('endsAt'),
      sql<Date>`coalesce(booking.created_at, class.created_at, cohort.created_at)`.as('createdAt'),
      sql<Date>`coalesce(booking.updated_at, class.created_at, cohort.updated_at)`.as('updatedAt'),
    ])
    .where('workspace.id', '=', workspaceId)
    .where('busy.busy_until', '>', since)
    .where('busy.waitlist_id', 'is', null)
    .where((eb) =>
      eb.or([
        eb('booking.status', 'in', ['CONFIRMED', 'COMPLETED', 'NO_SHOW']),
        eb('class.booked_count', '>', 0),
        eb('session.id', 'is not', null),
      ]),
    )
    .orderBy('busy.starts_at')
    .limit(most)
    .execute();
}
