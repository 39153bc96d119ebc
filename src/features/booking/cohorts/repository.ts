import { type Insertable, type RawBuilder, type Selectable, sql, type Updateable } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { pageCondition } from '../../../platform/db/page.ts';
import type { CohortStatus, CohortTable } from '../../../platform/db/tables.generated.ts';

export type CohortRow = Selectable<CohortTable>;
export type CohortChange = Omit<Updateable<CohortTable>, 'id' | 'workspace_id' | 'product_id'>;

/** Cohort with the other inputs of its status. */
export interface CohortStatusInput extends CohortRow {
  /** Capacity of the cohort, or of the product. */
  seats: number;
  /** End of the cohort: its own, that of its last session, or its start plus the product's duration. */
  over_at: Date;
}

const seats = sql<number>`coalesce(cohort.capacity, booking_product.capacity)`;
const overAt = sql<Date>`coalesce(
  cohort.ends_at,
  (select max(ends_at) from cohort_session where cohort_id = cohort.id),
  cohort.starts_at + booking_product.duration_min * interval '1 minute')`;

/** @param which `bookable`: not canceled; `any`: including canceled ones. */
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

/** Lists cohorts of a product that accept or will accept members, by start. */
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

/** Claims a seat. @returns false when none is left or the cohort does not accept members at this time. */
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

/** Adds the given deltas to both counts. */
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

/** Runs under the lock of the row. */
export function lockCohortStatusInput(tx: Tx, id: string): Promise<CohortStatusInput> {
  return standings(tx).where('cohort.id', '=', id).forNoKeyUpdate('cohort').executeTakeFirstOrThrow();
}

/** Locks the cohorts of a product that have not ended. */
export function lockOpenOf(tx: Tx, productId: string): Promise<CohortStatusInput[]> {
  return standings(tx)
    .where('cohort.product_id', '=', productId)
    .where('cohort.status', 'in', ['SCHEDULED', 'OPEN', 'FULL', 'RUNNING'])
    .orderBy('cohort.id')
    .forNoKeyUpdate('cohort')
    .execute();
}

/** Locks cohorts whose status is due to change; skips rows that are locked already. */
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
