import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type {
  BookingProductTable,
  BookingTable,
  ClassOccurrenceTable,
} from '../../../platform/db/tables.generated.ts';
import { type BookingFilter, onPageOfBookings } from './lists.repository.ts';

export type BookingRow = Selectable<BookingTable>;
export type OccurrenceRow = Selectable<ClassOccurrenceTable>;
export type ProductRow = Selectable<BookingProductTable>;
export type BookingChange = Omit<Updateable<BookingTable>, 'id' | 'workspace_id' | 'event_sequence'>;

/** Booking with its start (of a cohort: the cohort's) and its refunded amount. */
export type BookingDetails = BookingRow & { begins_at: Date; refunded_cents: number };

/** A cohort booking begins with its cohort. */
const beginsAt = sql<Date>`coalesce(booking.starts_at,
  (select cohort.starts_at from cohort where cohort.id = booking.cohort_id))`;

// ---- Bookings

export function insertBooking(tx: Tx, row: Insertable<BookingTable>): Promise<BookingRow> {
  return tx.insertInto('booking').values(row).returningAll().executeTakeFirstOrThrow();
}

function selectShown(db: Db) {
  return db
    .selectFrom('booking')
    .leftJoin('purchase', 'purchase.id', 'booking.purchase_id')
    .selectAll('booking')
    .select([
      beginsAt.as('begins_at'),
      sql<number>`coalesce(purchase.refunded_cents, 0)`.as('refunded_cents'),
    ]);
}

export function findBookingDetails(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<BookingDetails | undefined> {
  return selectShown(db)
    .where('booking.workspace_id', '=', workspaceId)
    .where('booking.id', '=', id)
    .executeTakeFirst();
}

/** Finds a booking by ID in any workspace: its checkout or a signed link names it. */
export function findBooking(db: Db, id: string): Promise<BookingRow | undefined> {
  return db.selectFrom('booking').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Returns the start of a booking, or of its cohort. */
export async function beginOf(db: Db, id: string): Promise<Date> {
  const row = await db
    .selectFrom('booking')
    .select(beginsAt.as('begins_at'))
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return row.begins_at;
}

/** Returns the number of bookings ever made per product; products without bookings are omitted. */
export async function countBookings(db: Db, productIds: readonly string[]): Promise<Map<string, number>> {
  if (productIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('booking')
    .select(['product_id', sql<number>`count(*)::int`.as('count')])
    .where('product_id', 'in', productIds)
    .groupBy('product_id')
    .execute();
  return new Map(rows.map(({ product_id: id, count }) => [id, count]));
}

export function listBookingDetails(
  db: Db,
  workspaceId: string,
  filter: BookingFilter,
  page: PageRequest,
): Promise<BookingDetails[]> {
  return selectShown(db)
    .where(onPageOfBookings(workspaceId, filter, page))
    .orderBy('booking.id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

/**
 * Returns the booking under the locks that every change of it takes: first its cohort or classes, as all
 * transactions do.
 *
 * @param occurrenceId another class to move the booking to.
 */
export async function lockBooking(
  tx: Tx,
  id: string,
  occurrenceId: string | null = null,
): Promise<BookingRow | undefined> {
  await sql`select from cohort where id = (select cohort_id from booking where id = ${id})
    for no key update`.execute(tx);
  await sql`select from class_occurrence
    where id in ((select occurrence_id from booking where id = ${id}), ${occurrenceId}::text)
    order by id for no key update`.execute(tx);
  return tx.selectFrom('booking').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

export function updateBooking(tx: Tx, id: string, change: BookingChange): Promise<BookingRow> {
  return tx.updateTable('booking').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
}

export const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

/** Lists bookings that begin soon and whose customers were not reminded. */
export async function listDueReminders(
  db: Db,
  { now, soon }: { now: Date; soon: Date },
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('booking')
    .select('id')
    .where('status', '=', 'CONFIRMED')
    .where('reminded_at', 'is', null)
    .where('starts_at', '>', now)
    .where('starts_at', '<=', soon)
    .orderBy('starts_at')
    .limit(limit)
    .execute();
  return idsOf(rows);
}

export async function listFinished(db: Db, now: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('booking')
    .select('id')
    .where('status', '=', 'CONFIRMED')
    .where('ends_at', '<=', now)
    .orderBy('ends_at')
    .limit(limit)
    .execute();
  return idsOf(rows);
}

/** Lists upcoming bookings whose creators were suspended before `suspendedBefore`. */
export async function listOfSuspendedCreators(
  db: Db,
  { now, suspendedBefore }: { now: Date; suspendedBefore: Date },
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('account')
    .innerJoin('workspace', 'workspace.account_id', 'account.id')
    .innerJoin('booking', 'booking.workspace_id', 'workspace.id')
    .select('booking.id')
    .where('account.suspended_at', '<=', suspendedBefore)
    .where('booking.status', '=', 'CONFIRMED')
    .where(beginsAt, '>', now)
    .limit(limit)
    .execute();
  return idsOf(rows);
}

// ---- Rooms

/** Lists bookings that take place now or soon and have no room yet. */
export async function listWithoutRoom(
  db: Db,
  { now, soon }: { now: Date; soon: Date },
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('booking')
    .select('id')
    .where('status', '=', 'CONFIRMED')
    .where('room_id', 'is', null)
    .where('starts_at', '<=', soon)
    .where('ends_at', '>', now)
    // Enables the index: no booking lasts longer.
    .where('ends_at', '<=', sql<Date>`${soon}::timestamptz + interval '10 hours'`)
    .orderBy('starts_at')
    .limit(limit)
    .execute();
  return idsOf(rows);
}

/** Stores the room of the current session. */
export async function setBookingRoom(db: Db, id: string, roomId: string): Promise<void> {
  await db.updateTable('booking').set({ room_id: roomId }).where('id', '=', id).execute();
}

export async function setOccurrenceRoom(tx: Tx, id: string, roomId: string): Promise<void> {
  await tx.updateTable('class_occurrence').set({ room_id: roomId }).where('id', '=', id).execute();
}

export function findOccurrence(db: Db, id: string): Promise<OccurrenceRow | undefined> {
  return db.selectFrom('class_occurrence').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Marks that a host or a customer joined a room (null: the customer of a ONE_TO_ONE). */
export async function markJoined(
  tx: Tx,
  roomId: string,
  { who, now }: { who: 'HOST' | { identity: string }; now: Date },
): Promise<void> {
  const column = who === 'HOST' ? 'creator_joined_at' : 'customer_joined_at';
  await tx
    .updateTable('booking')
    .set({ [column]: now })
    .where('room_id', '=', roomId)
    .where('status', '=', 'CONFIRMED')
    .where(column, 'is', null)
    .$if(who !== 'HOST', (query) =>
      query.where((eb) =>
        eb.or([eb('id', '=', who === 'HOST' ? '' : who.identity), eb('type', '=', 'ONE_TO_ONE')]),
      ),
    )
    .execute();
}

/** Adds a recording of a room to its bookings; the newest becomes the main one. */
export async function linkRecording(
  tx: Tx,
  roomId: string,
  { videoId, now }: { videoId: string; now: Date },
): Promise<void> {
  await tx
    .updateTable('booking')
    .set({
      recording_video_id: videoId,
      recording_video_ids: sql`array_append(recording_video_ids, ${videoId})`,
      replay_access_until: sql<Date | null>`case when replay_access_days > 0
        then coalesce(ends_at, ${now}) + make_interval(days => replay_access_days) end`,
    })
    .where('room_id', '=', roomId)
    // A cohort has many rooms: its creator shares the recordings with it.
    .where('type', '<>', 'COHORT')
    .where(sql<boolean>`${videoId} <> all (recording_video_ids)`)
    .execute();
}

/** Returns the current product of a booking. */
export function findProduct(db: Db, id: string): Promise<ProductRow> {
  return db.selectFrom('booking_product').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
}

/** Finds the data about a booking that emails and events add to the row. */
export function findBookingContext(db: Db, id: string) {
  return db
    .selectFrom('booking')
    .innerJoin('booking_product', 'booking_product.id', 'booking.product_id')
    .innerJoin('workspace', 'workspace.id', 'booking.workspace_id')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .leftJoin('cohort', 'cohort.id', 'booking.cohort_id')
    .select(['booking_product.title', 'booking_product.buffer_min', 'workspace.mode'])
    .select(['account.name', 'account.username', 'account.email', 'account.email_verified_at'])
    .select(['cohort.starts_at as cohort_starts_at', 'cohort.timezone as cohort_timezone'])
    .where('booking.id', '=', id)
    .executeTakeFirstOrThrow();
}
export type BookingContext = Awaited<ReturnType<typeof findBookingContext>>;

// ---- Classes

interface NewOccurrence {
  id: string;
  startsAt: Date;
  endsAt: Date;
  now: Date;
}
type OfProduct = Pick<ProductRow, 'id' | 'workspace_id' | 'capacity'>;

/** Returns the ID of the class of a product at one time; inserts it when missing. */
export async function ensureOccurrence(
  tx: Tx,
  product: OfProduct,
  { id, startsAt, endsAt, now }: NewOccurrence,
): Promise<string> {
  await tx
    .insertInto('class_occurrence')
    .values({
      id,
      workspace_id: product.workspace_id,
      product_id: product.id,
      starts_at: startsAt,
      ends_at: endsAt,
      capacity: product.capacity,
      created_at: now,
    })
    .onConflict((conflict) => conflict.columns(['product_id', 'starts_at']).doNothing())
    .execute();
  const row = await ofTime(tx, product, startsAt).select('id').executeTakeFirstOrThrow();
  return row.id;
}

function ofTime(tx: Tx, product: OfProduct, startsAt: Date) {
  return tx
    .selectFrom('class_occurrence')
    .where('product_id', '=', product.id)
    .where('starts_at', '=', startsAt);
}

/** Locks the occurrence, which is created when it is missing. */
export async function lockOccurrence(
  tx: Tx,
  product: OfProduct,
  made: NewOccurrence,
): Promise<OccurrenceRow> {
  await ensureOccurrence(tx, product, made);
  return ofTime(tx, product, made.startsAt).selectAll().forNoKeyUpdate().executeTakeFirstOrThrow();
}

/** Runs under the lock of the row. */
export function claimSeat(
  tx: Tx,
  id: string,
  { capacity, endsAt }: { capacity: number; endsAt: Date },
): Promise<OccurrenceRow> {
  return tx
    .updateTable('class_occurrence')
    .set({ reserved_count: sql`reserved_count + 1`, capacity, ends_at: endsAt })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function adjustSeatCounts(
  tx: Tx,
  id: string,
  by: { claimed: number; booked: number },
): Promise<OccurrenceRow> {
  return tx
    .updateTable('class_occurrence')
    .set({
      reserved_count: sql`reserved_count + ${by.claimed}`,
      booked_count: sql`booked_count + ${by.booked}`,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}
