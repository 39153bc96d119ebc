import { type Insertable, type Selectable, sql } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { pageByIndexOrder, pagePerCombination } from '../../../platform/db/page-filters.ts';
import {
  VALUES,
  type WaitlistEntryStatus,
  type WaitlistEntryTable,
} from '../../../platform/db/tables.generated.ts';
import type { Spot } from './rules.ts';

export type EntryRow = Selectable<WaitlistEntryTable>;

export interface EntryFilters {
  productId: string | undefined;
  cohortId: string | undefined;
  statuses: readonly WaitlistEntryStatus[] | undefined;
}

/** Spot of a product. */
export interface ProductSpot extends Spot {
  productId: string;
}

/** `confirmed_at` is required: the column default serves older nodes that do not know the column. */
export function insertEntry(
  tx: Tx,
  row: Insertable<WaitlistEntryTable> & { confirmed_at: Date | null },
): Promise<EntryRow> {
  return tx.insertInto('waitlist_entry').values(row).returningAll().executeTakeFirstOrThrow();
}

/** Locks the waiting or offered entry for this spot with this email address. */
export function lockWaiting(tx: Tx, wanted: ProductSpot & { email: string }): Promise<EntryRow | undefined> {
  return select(tx)
    .where('product_id', '=', wanted.productId)
    .where(names(wanted))
    .where('email', '=', wanted.email)
    .where('status', 'in', ['WAITING', 'OFFERED'])
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/**
 * Counts the entries ever made for this spot, and the open ones by confirmation. Requires the product lock.
 */
export async function countQueue(
  tx: Tx,
  wanted: ProductSpot,
): Promise<{ ever: number; confirmed: number; unconfirmed: number }> {
  const { ever, confirmed, unconfirmed } = await tx
    .selectFrom('waitlist_entry')
    .select((eb) => {
      const isOpen = eb('status', 'in', ['WAITING', 'OFFERED']);
      return [
        eb.fn.countAll<number>().as('ever'),
        eb.fn
          .countAll<number>()
          .filterWhere(isOpen.and('confirmed_at', 'is not', null))
          .as('confirmed'),
        eb.fn
          .countAll<number>()
          .filterWhere(isOpen.and('confirmed_at', 'is', null))
          .as('unconfirmed'),
      ];
    })
    .where('product_id', '=', wanted.productId)
    .where(names(wanted))
    .executeTakeFirstOrThrow();
  return { ever: Number(ever), confirmed: Number(confirmed), unconfirmed: Number(unconfirmed) };
}

export function listEntries(
  db: Db,
  workspaceId: string,
  { productId, cohortId, statuses }: EntryFilters,
  page: PageRequest,
): Promise<EntryRow[]> {
  const isOfPlace = productId !== undefined || cohortId !== undefined;
  const of = isOfPlace ? { product_id: productId } : { workspace_id: workspaceId };
  const where =
    cohortId === undefined ? undefined : sql`coalesce(offered_cohort_id, cohort_id) = ${cohortId}`;
  const listed = { table: 'waitlist_entry', prefix: 'wl', of, where } as const;
  // The indexes by product and by cohort include no other filter column than the status.
  const onPage = isOfPlace ? pageByIndexOrder : pagePerCombination;
  return select(db)
    .where('workspace_id', '=', workspaceId)
    .where(onPage(page, listed, { status: [statuses, VALUES.waitlist_entry.status] }))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

export function findEntry(db: Db, id: string, workspaceId?: string): Promise<EntryRow | undefined> {
  return select(db)
    .where('id', '=', id)
    .$if(workspaceId !== undefined, (query) => query.where('workspace_id', '=', workspaceId ?? ''))
    .executeTakeFirst();
}

/** Confirms the entry of an emailed link. Idempotent. */
export async function confirmEntry(db: Db, id: string, now: Date): Promise<void> {
  await db
    .updateTable('waitlist_entry')
    .set({ confirmed_at: now, updated_at: now })
    .where('id', '=', id)
    .where('status', '=', 'WAITING')
    .where('confirmed_at', 'is', null)
    .execute();
}

/** Restarts the time to confirm, for another email. */
export function resendConfirmation(tx: Tx, id: string, now: Date): Promise<EntryRow> {
  return tx
    .updateTable('waitlist_entry')
    .set({ updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Confirms an entry that was typed on a page for an API caller who vouches for it. Requires its lock. */
export function confirmOnBehalf(
  tx: Tx,
  id: string,
  { name, now }: { name: string | null; now: Date },
): Promise<EntryRow> {
  return tx
    .updateTable('waitlist_entry')
    .set({ name, confirmed_at: now, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Expires unconfirmed entries whose last email was sent before `before`. */
export async function expireUnconfirmed(db: Db, before: Date, now: Date): Promise<void> {
  await db
    .updateTable('waitlist_entry')
    .set({ status: 'EXPIRED', updated_at: now })
    .where('status', '=', 'WAITING')
    .where('confirmed_at', 'is', null)
    .where('created_at', '<', before)
    .where('updated_at', '<', before)
    .execute();
}

/** Finds the first confirmed entry for this spot, or for any spot of the product, without locking it. */
export function findFirst(tx: Tx, place: ProductSpot): Promise<EntryRow | undefined> {
  return select(tx)
    .where('product_id', '=', place.productId)
    .where('status', '=', 'WAITING')
    .where('confirmed_at', 'is not', null)
    .where(takes(place))
    .orderBy('queue_number')
    .limit(1)
    .executeTakeFirst();
}

/** Finds the entry that was offered this spot and released it to a booking that failed. */
export function findReturning(tx: Tx, place: ProductSpot, now: Date): Promise<EntryRow | undefined> {
  return select(tx)
    .where('product_id', '=', place.productId)
    .where('status', '=', 'OFFERED')
    .where('holds_spot', '=', false)
    .where('offer_expires_at', '>', now)
    .where(sql<boolean>`offered_cohort_id is not distinct from ${place.cohortId}`)
    .where(sql<boolean>`offered_starts_at is not distinct from ${place.startsAt}::timestamptz`)
    .orderBy('queue_number')
    .limit(1)
    .executeTakeFirst();
}

/** @returns undefined when another transaction was faster. */
export function markOffered(
  tx: Tx,
  id: string,
  offer: Spot & { occurrenceId: string | null; now: Date; expiresAt: Date },
): Promise<EntryRow | undefined> {
  return tx
    .updateTable('waitlist_entry')
    .set({
      status: 'OFFERED',
      offered_at: offer.now,
      offer_expires_at: offer.expiresAt,
      offered_cohort_id: offer.cohortId,
      offered_starts_at: offer.startsAt,
      occurrence_id: offer.occurrenceId,
      holds_spot: true,
      updated_at: offer.now,
    })
    .where('id', '=', id)
    .where('status', '=', 'WAITING')
    .returningAll()
    .executeTakeFirst();
}

/** @returns undefined when the offer has ended or holds its spot already. */
export function markHeld(
  tx: Tx,
  id: string,
  occurrenceId: string | null,
  now: Date,
): Promise<EntryRow | undefined> {
  return tx
    .updateTable('waitlist_entry')
    .set({ holds_spot: true, occurrence_id: occurrenceId, updated_at: now })
    .where('id', '=', id)
    .where('status', '=', 'OFFERED')
    .where('holds_spot', '=', false)
    .returningAll()
    .executeTakeFirst();
}

/** Releases the held spot to the booking of the entry. @returns false when none is held. */
export async function markClaimed(tx: Tx, id: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('waitlist_entry')
    .set({ holds_spot: false, updated_at: now })
    .where('id', '=', id)
    .where('status', '=', 'OFFERED')
    .where('holds_spot', '=', true)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** @returns undefined when the state has changed. */
export function endEntry(
  tx: Tx,
  was: Pick<EntryRow, 'id' | 'status' | 'holds_spot'>,
  to: { status: WaitlistEntryStatus; bookingId: string | null; now: Date },
): Promise<EntryRow | undefined> {
  return tx
    .updateTable('waitlist_entry')
    .set({ status: to.status, booking_id: to.bookingId, holds_spot: false, updated_at: to.now })
    .where('id', '=', was.id)
    .where('status', '=', was.status)
    .where('holds_spot', '=', was.holds_spot)
    .returningAll()
    .executeTakeFirst();
}

/** Finds the entry if it has the offer of this spot. */
export function findOffered(db: Db, place: ProductSpot, id: string): Promise<EntryRow | undefined> {
  return select(db)
    .where('id', '=', id)
    .where('product_id', '=', place.productId)
    .where('status', '=', 'OFFERED')
    .where(takes(place))
    .executeTakeFirst();
}

/** Finds the waiting entry for this spot with this email address. */
export function findWaiting(db: Db, place: ProductSpot & { email: string }): Promise<EntryRow | undefined> {
  return select(db)
    .where('product_id', '=', place.productId)
    .where('email', '=', place.email)
    .where('status', '=', 'WAITING')
    .where(takes(place))
    .orderBy('queue_number')
    .limit(1)
    .executeTakeFirst();
}

/** Lists offers that have expired. */
export function listLapsed(db: Db, now: Date, limit: number): Promise<{ id: string }[]> {
  return db
    .selectFrom('waitlist_entry')
    .select('id')
    .where('status', '=', 'OFFERED')
    .where('offer_expires_at', '<=', now)
    .orderBy('offer_expires_at')
    .limit(limit)
    .execute();
}

/** Expires the waiting entries of a spot that can no longer be booked. */
export async function expireQueue(db: Db, wanted: ProductSpot, now: Date): Promise<void> {
  await db
    .updateTable('waitlist_entry')
    .set({ status: 'EXPIRED', updated_at: now })
    .where('status', '=', 'WAITING')
    .where('product_id', '=', wanted.productId)
    .where(names(wanted))
    .execute();
}

/** Spot with its workspace. */
export type AwaitedSpot = ProductSpot & { workspaceId: string };

/**
 * Lists, in a stable order, spots with waiting entries that name them and offered spots that are not held at
 * the moment.
 */
export function listAwaited(
  db: Db,
  now: Date,
  { after, limit }: { after: AwaitedSpot | null; limit: number },
): Promise<AwaitedSpot[]> {
  const cohort = sql<string | null>`coalesce(offered_cohort_id, cohort_id)`;
  const start = sql<Date | null>`coalesce(offered_starts_at, starts_at)`;
  const key = sql`(product_id, coalesce(${cohort}, ''), coalesce(${start}, '-infinity'))`;
  return db
    .selectFrom('waitlist_entry')
    .select(['workspace_id as workspaceId', 'product_id as productId'])
    .select([cohort.as('cohortId'), start.as('startsAt')])
    .distinct()
    .$if(after !== null, (query) =>
      query.where(
        sql<boolean>`${key} > (${after?.productId ?? ''}, ${after?.cohortId ?? ''},
          coalesce(${after?.startsAt ?? null}::timestamptz, '-infinity'))`,
      ),
    )
    .where((eb) =>
      eb.or([
        eb.and([
          eb('status', '=', 'WAITING'),
          eb.or([eb('cohort_id', 'is not', null), eb('starts_at', 'is not', null)]),
        ]),
        eb.and([
          eb('status', '=', 'OFFERED'),
          eb('holds_spot', '=', false),
          eb('offer_expires_at', '>', now),
        ]),
      ]),
    )
    .orderBy('productId')
    .orderBy('cohortId', (order) => order.asc().nullsFirst())
    .orderBy('startsAt', (order) => order.asc().nullsFirst())
    .limit(limit)
    .execute();
}

/** Matches entries that named this spot when joining: they form one line. */
function names({ cohortId, startsAt }: Spot) {
  return sql<boolean>`cohort_id is not distinct from ${cohortId}
    and starts_at is not distinct from ${startsAt}::timestamptz`;
}

/** Matches entries that accept this spot: without cohort and time any spot; an offer only its own. */
function takes({ cohortId, startsAt }: Spot) {
  return sql<boolean>`(coalesce(offered_cohort_id, cohort_id) is null
      or coalesce(offered_cohort_id, cohort_id) = ${cohortId})
    and (coalesce(offered_starts_at, starts_at) is null
      or coalesce(offered_starts_at, starts_at) = ${startsAt}::timestamptz)`;
}

/** Finds the email address of a booking and the waitlist entry whose link was used. */
export function findBooker(db: Db, bookingId: string) {
  return db
    .selectFrom('booking')
    .select(['customer_email as email', 'waitlist_entry_id as entryId'])
    .where('id', '=', bookingId)
    .executeTakeFirstOrThrow();
}

/** Returns the display name of the creator. */
export async function creatorName(db: Db, workspaceId: string): Promise<string> {
  const { name, username } = await db
    .selectFrom('workspace')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .select(['account.name', 'account.username'])
    .where('workspace.id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  return name ?? username;
}

function select(db: Db) {
  return db.selectFrom('waitlist_entry').selectAll();
}
