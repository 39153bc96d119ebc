import { type Insertable, type RawBuilder, type Selectable, sql, type Updateable } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { pageCondition } from '../../../platform/db/page.ts';
import type { CohortStatus, CohortTable } from '../../../platform/db/tables.generated.ts';

export type CohortRow = Selectable<CohortTable>;
export type CohortChange = Omit<Updateable<CohortTable>, 'id' | 'workspace_id' | 'product_id'>;

/** A cohort, and what else decides its state. */
export interface CohortStatusInput extends CohortRow {
  /** Its own, or that of the product. */
  seats: number;
  /** Its own, that of its last session, or the length of the product after its start. */
  over_at: Date;
}

const seats = sql<number>`coalesce(cohort.capacity, booking_product.capacity)`;
const overAt = sql<Date>`coalesce(
  cohort.ends_at,
  (select max(ends_at) from cohort_session where cohort_id = cohort.id),
  cohort.starts_at + booking_product.duration_min * interval '1 minute')`;

/** @param which `bookable`: one that was not canceled; `any`: canceled ones too. */
export async function hasCohort(db: Db, productId: string, which: 'bookable' | 'any'): Promise<boolean> {
  const row = await db
    .selectFrom('cohort')
    .select('id')
    .where('product_id', '=', productId)
    .$if(which === 'bookable', (query) => query.where('status', '!=', 'CANCELED'))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export function insertCohort(tx: Tx, row: Insertable<CohortTable>): Promise<CohortRow> {
  return tx.insertInto('cohort').values(row).returningAll().executeTakeFirstOrThrow();
}

export function findOwnCohort(db: Db, workspaceId: string, id: string): Promise<CohortRow | undefined> {
  return db
    .selectFrom('cohort')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export function findCohort(db: Db, id: string): Promise<CohortRow | undefined> {
  return db.selectFrom('cohort').selectAll().where('id', '=', id).executeTakeFirst();
}

export function lockOwnCohort(tx: Tx, workspaceId: string, id: string): Promise<CohortRow | undefined> {
  return tx
    .selectFrom('cohort')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

export function listCohorts(
  db: Db,
  productId: string,
  statuses: readonly CohortStatus[] | undefined,
  page: PageRequest,
): Promise<CohortRow[]> {
  return db
    .selectFrom('cohort')
    .selectAll()
    .where('product_id', '=', productId)
    .$if(statuses !== undefined, (query) => query.where('status', 'in', statuses ?? []))
    .where(pageCondition(page))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

/** Those of a product that take members, or will, the next one first. */
export function listUpcomingCohorts(db: Db, productId: string, now: Date): Promise<CohortRow[]> {
  return db
    .selectFrom('cohort')
    .selectAll()
    .where('product_id', '=', productId)
    .where('status', 'in', ['SCHEDULED', 'OPEN', 'FULL'])
    .where(sql<boolean>`${now} < coalesce(enrollment_closes_at, starts_at)`)
    .orderBy('starts_at')
    .orderBy('id')
    .limit(MAX_SHOWN)
    .execute();
}

const MAX_SHOWN = 100;

export function updateCohort(tx: Tx, id: string, change: CohortChange): Promise<CohortRow> {
  return tx.updateTable('cohort').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
}

/** Keeps a seat for somebody. @returns false when none is left, or the cohort takes nobody at this time. */
export async function claimSeat(tx: Tx, id: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('cohort')
    .from('booking_product')
    .set({ reserved_count: sql`reserved_count + 1` })
    .whereRef('booking_product.id', '=', 'cohort.product_id')
    .where('cohort.id', '=', id)
    .where('cohort.status', 'in', ['SCHEDULED', 'OPEN', 'FULL'])
    .where(sql<boolean>`coalesce(enrollment_opens_at, '-infinity') <= ${now}`)
    .where(sql<boolean>`${now} < coalesce(enrollment_closes_at, starts_at)`)
    .where(sql<boolean>`enrolled_count + reserved_count < ${seats}`)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Moves the two counts by so much. */
export async function adjustSeatCounts(
  tx: Tx,
  id: string,
  by: { claimed: number; enrolled: number },
): Promise<void> {
  await tx
    .updateTable('cohort')
    .set({
      reserved_count: sql`reserved_count + ${by.claimed}`,
      enrolled_count: sql`enrolled_count + ${by.enrolled}`,
    })
    .where('id', '=', id)
    .execute();
}

/** Under its lock. */
export function lockCohortStatusInput(tx: Tx, id: string): Promise<CohortStatusInput> {
  return standings(tx).where('cohort.id', '=', id).forNoKeyUpdate('cohort').executeTakeFirstOrThrow();
}

/** Under their locks: cohorts of a product that have not ended. */
export function lockOpenOf(tx: Tx, productId: string): Promise<CohortStatusInput[]> {
  return standings(tx)
    .where('cohort.product_id', '=', productId)
    .where('cohort.status', 'in', ['SCHEDULED', 'OPEN', 'FULL', 'RUNNING'])
    .orderBy('cohort.id')
    .forNoKeyUpdate('cohort')
    .execute();
}

/** Under their locks: those whose time has come for another state, but for those that somebody has locked. */
export function lockDue(tx: Tx, now: Date, limit: number): Promise<CohortStatusInput[]> {
  const isDue: RawBuilder<boolean> = sql`(
    cohort.status = 'SCHEDULED' and coalesce(cohort.enrollment_opens_at, '-infinity') <= ${now}
    or cohort.status in ('SCHEDULED', 'OPEN', 'FULL') and cohort.starts_at <= ${now}
    or cohort.status = 'RUNNING' and ${overAt} <= ${now})`;
  return standings(tx)
    .where(isDue)
    .where('cohort.status', 'in', ['SCHEDULED', 'OPEN', 'FULL', 'RUNNING'])
    .orderBy('cohort.id')
    .limit(limit)
    .forNoKeyUpdate('cohort')
    .skipLocked()
    .execute();
}

function standings(tx: Tx) {
  return tx
    .selectFrom('cohort')
    .innerJoin('booking_product', 'booking_product.id', 'cohort.product_id')
    .selectAll('cohort')
    .select([seats.as('seats'), overAt.as('over_at')]);
}
