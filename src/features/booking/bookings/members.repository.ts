import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { type BookingRow, idsOf } from './repository.ts';

/** Lists bookings of a cohort. */

export async function listOfCohort(
  db: Db,
  cohortId: string,
  status: BookingRow['status'],
): Promise<string[]> {
  const rows = await db
    .selectFrom('booking')
    .select('id')
    .where('cohort_id', '=', cohortId)
    .where('status', '=', status)
    .orderBy('id')
    .execute();
  return idsOf(rows);
}

/** Lists cohorts with members that have begun or begin soon. */
export async function listActiveCohorts(db: Db, { now, soon }: { now: Date; soon: Date }): Promise<string[]> {
  const rows = await db
    .selectFrom('cohort')
    .innerJoin('cohort_session', 'cohort_session.cohort_id', 'cohort.id')
    .select('cohort.id')
    .distinct()
    .where('cohort.status', 'in', ['OPEN', 'FULL', 'SCHEDULED', 'RUNNING'])
    .where('cohort.enrolled_count', '>', 0)
    .where('cohort_session.starts_at', '<=', soon)
    .where('cohort_session.ends_at', '>', now)
    .where('cohort_session.room_id', 'is', null)
    .execute();
  return idsOf(rows);
}

/** Locks the cohort, so that no other transaction changes its sessions. */
export async function lockCohort(tx: Tx, id: string): Promise<void> {
  await sql`select from cohort where id = ${id} for no key update`.execute(tx);
}

/** Returns the last change of the cohort's times; requires its lock. */
export async function changeOf(tx: Tx, cohortId: string): Promise<{ changeNo: number; startsAt: Date }> {
  return tx
    .selectFrom('cohort')
    .select(['revision as changeNo', 'starts_at as startsAt'])
    .where('id', '=', cohortId)
    .executeTakeFirstOrThrow();
}

/** Lists members after the given one who do not know the last change of their cohort. */
export async function listMembersToNotify(
  db: Db,
  cohortId: string,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('booking')
    .innerJoin('cohort', 'cohort.id', 'booking.cohort_id')
    .select('booking.id')
    .where('booking.cohort_id', '=', cohortId)
    .where('booking.status', '=', 'CONFIRMED')
    .whereRef('booking.cohort_revision', '<', 'cohort.revision')
    .where('booking.id', '>', after)
    .orderBy('booking.id')
    .limit(limit)
    .execute();
  return idsOf(rows);
}

/** Session that begins soon. */
export interface UpcomingSession {
  id: string;
  cohort_id: string;
  starts_at: Date;
  ends_at: Date;
}

/** Lists sessions that begin soon and whose times were set more than `noticeMin` minutes before the start. */
export function listUpcomingSessions(
  db: Db,
  { now, soon, noticeMin }: { now: Date; soon: Date; noticeMin: number },
): Promise<UpcomingSession[]> {
  return db
    .selectFrom('cohort_session as session')
    .innerJoin('cohort', 'cohort.id', 'session.cohort_id')
    .select(['session.id', 'session.cohort_id', 'session.starts_at', 'session.ends_at'])
    .where('session.starts_at', '>', now)
    .where('session.starts_at', '<=', soon)
    .where(sql<boolean>`session.scheduled_at < session.starts_at - make_interval(mins => ${noticeMin})`)
    .where('cohort.status', 'in', ['SCHEDULED', 'OPEN', 'FULL', 'RUNNING'])
    .where('cohort.enrolled_count', '>', 0)
    .execute();
}

/** Lists members after the given one who were not reminded of a session. */
export async function listUnremindedMembers(
  db: Db,
  session: UpcomingSession,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('booking')
    .select('id')
    .where('cohort_id', '=', session.cohort_id)
    .where('status', '=', 'CONFIRMED')
    .where(isUnreminded(session.starts_at))
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
  return idsOf(rows);
}

const isUnreminded = (startsAt: Date) =>
  sql<boolean>`coalesce(reminded_until, '-infinity') < ${startsAt}::timestamptz`;

/** Reports whether the session still takes place at this time; requires the cohort lock. */
export async function isHeld(tx: Tx, { id, starts_at }: UpcomingSession): Promise<boolean> {
  const row = await tx
    .selectFrom('cohort_session')
    .select('id')
    .where('id', '=', id)
    .where('starts_at', '=', starts_at)
    .executeTakeFirst();
  return row !== undefined;
}
