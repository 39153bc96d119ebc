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

/** A place of a product. */
export interface ProductSpot extends Spot {
  productId: string;
}

/** Whether it is confirmed is said by name: the column's default is for nodes that know no such column. */
export function insertEntry(
  tx: Tx,
  row: Insertable<WaitlistEntryTable> & { confirmed_at: Date | null },
): Promise<EntryRow> {
  return tx.insertInto('waitlist_entry').values(row).returningAll().executeTakeFirstOrThrow();
}

/** Who waits for the same with this address, or has the offer of it; nobody changes it meanwhile. */
export function lockWaiting(tx: Tx, wanted: ProductSpot & { email: string }): Promise<EntryRow | undefined> {
  return select(tx)
    .where('product_id', '=', wanted.productId)
    .where(names(wanted))
    .where('email', '=', wanted.email)
    .where('status', 'in', ['WAITING', 'OFFERED'])
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** How many ever waited for the same; of now, how many have confirmed it or have not. Under the lock of the product. */
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
  // The indexes of a product's and a cohort's entries have them by status alone.
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

/** Of a link that was mailed: again, it changes nothing. */
export async function confirmEntry(db: Db, id: string, now: Date): Promise<void> {
  await db
    .updateTable('waitlist_entry')
    .set({ confirmed_at: now, updated_at: now })
    .where('id', '=', id)
    .where('status', '=', 'WAITING')
    .where('confirmed_at', 'is', null)
    .execute();
}

/** Somebody is asked once more: the time to confirm begins again. */
export function resendConfirmation(tx: Tx, id: string, now: Date): Promise<EntryRow> {
  return tx
    .updateTable('waitlist_entry')
    .set({ updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** A key answers for an address that somebody typed; under its lock. */
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

/** Whose address was never confirmed, of those who were asked last before then. */
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

/** The first who waits for this place, or for any of the product, and has confirmed it; it is not locked. */
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

/** Whoever was offered this place and gave it up for a booking that came to nothing. */
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

/** @returns undefined when somebody else was faster. */
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

/** @returns undefined when the offer is over by now, or keeps its place. */
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

/** The place goes to the booking of its holder. @returns false when it is kept no more. */
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

/** @returns undefined when it is not as it was read any more. */
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

/** The entry, where it has the offer of this place. */
export function findOffered(db: Db, place: ProductSpot, id: string): Promise<EntryRow | undefined> {
  return select(db)
    .where('id', '=', id)
    .where('product_id', '=', place.productId)
    .where('status', '=', 'OFFERED')
    .where(takes(place))
    .executeTakeFirst();
}

/** Who waits for this place with this address. */
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

/** Offers whose time is over. */
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

/** Nobody waits any more for what cannot be booked any more. */
export async function expireQueue(db: Db, wanted: ProductSpot, now: Date): Promise<void> {
  await db
    .updateTable('waitlist_entry')
    .set({ status: 'EXPIRED', updated_at: now })
    .where('status', '=', 'WAITING')
    .where('product_id', '=', wanted.productId)
    .where(names(wanted))
    .execute();
}

/** A place, and whose it is. */
export type AwaitedSpot = ProductSpot & { workspaceId: string };

/** What is waited for by name, and what was offered and is not kept just now: those behind a place, in one order. */
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

/** What was named when joining: those who wait for the same are one line. */
function names({ cohortId, startsAt }: Spot) {
  return sql<boolean>`cohort_id is not distinct from ${cohortId}
    and starts_at is not distinct from ${startsAt}::timestamptz`;
}

/** Whoever named no cohort and no time takes any; an offer is of one place. */
function takes({ cohortId, startsAt }: Spot) {
  return sql<boolean>`(coalesce(offered_cohort_id, cohort_id) is null
      or coalesce(offered_cohort_id, cohort_id) = ${cohortId})
    and (coalesce(offered_starts_at, starts_at) is null
      or coalesce(offered_starts_at, starts_at) = ${startsAt}::timestamptz)`;
}

/** The address of whoever booked, and the entry by whose link they did. */
export function findBooker(db: Db, bookingId: string) {
  return db
    .selectFrom('booking')
    .select(['customer_email as email', 'waitlist_entry_id as entryId'])
    .where('id', '=', bookingId)
    .executeTakeFirstOrThrow();
}

/** Whose the places are, for people. */
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
