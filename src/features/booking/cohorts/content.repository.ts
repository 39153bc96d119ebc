import { type Insertable, type Selectable, sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type {
  CohortSessionTable,
  CohortSessionTombstoneTable,
  CohortVideoTable,
} from '../../../platform/db/tables.generated.ts';

export type SessionRow = Selectable<CohortSessionTable>;
export type RemovedSessionRow = Selectable<CohortSessionTombstoneTable>;
export type CohortVideoRow = Selectable<CohortVideoTable>;

/** Lists sessions by start time. */
export async function sessionsOf(db: Db, cohortIds: readonly string[]): Promise<SessionRow[]> {
  if (cohortIds.length === 0) return [];
  return db
    .selectFrom('cohort_session')
    .selectAll()
    .where('cohort_id', 'in', cohortIds)
    .orderBy('starts_at')
    .orderBy('id')
    .execute();
}

/**
 * Inserts the session, or updates the one with this ID; an unchanged time does not count as a change.
 * @returns its ID.
 */
export async function upsertSession(
  tx: Tx,
  cohortId: string,
  { id, startsAt, endsAt }: { id: string; startsAt: Date; endsAt: Date },
  now: Date,
): Promise<string> {
  const times = { starts_at: startsAt, ends_at: endsAt, scheduled_at: now };
  await tx
    .insertInto('cohort_session')
    .values({ id, cohort_id: cohortId, ...times })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet(times)
        .where(sql<boolean>`(cohort_session.starts_at, cohort_session.ends_at) <> (${startsAt}, ${endsAt})`),
    )
    .execute();
  return id;
}

/** @param changeNo change number of the cohort, including this removal. */
export async function removeSession(tx: Tx, session: SessionRow, changeNo: number): Promise<void> {
  const { id, cohort_id, starts_at, ends_at } = session;
  await tx.deleteFrom('cohort_session').where('id', '=', id).execute();
  await tx
    .insertInto('cohort_session_tombstone')
    .values({ id, cohort_id, starts_at, ends_at, revision: changeNo })
    .execute();
}

export function listRemovedSessions(
  db: Db,
  cohortId: string,
  changeNo: number,
): Promise<RemovedSessionRow[]> {
  return db
    .selectFrom('cohort_session_tombstone')
    .selectAll()
    .where('cohort_id', '=', cohortId)
    .where('revision', '>', changeNo)
    .orderBy('starts_at')
    .orderBy('id')
    .execute();
}

export async function setSessionRoom(tx: Tx, id: string, roomId: string): Promise<void> {
  await tx.updateTable('cohort_session').set({ room_id: roomId }).where('id', '=', id).execute();
}

/** Lists videos by position, without deleted ones. */
export async function videosOf(db: Db, cohortIds: readonly string[]): Promise<CohortVideoRow[]> {
  if (cohortIds.length === 0) return [];
  return db
    .selectFrom('cohort_video')
    .innerJoin('video', 'video.id', 'cohort_video.video_id')
    .selectAll('cohort_video')
    .where('cohort_id', 'in', cohortIds)
    .where('video.deleted_at', 'is', null)
    .orderBy('cohort_video.position')
    .orderBy('cohort_video.id')
    .execute();
}

/** @returns undefined when the cohort has the video already. */
export function insertVideo(tx: Tx, row: Insertable<CohortVideoTable>): Promise<CohortVideoRow | undefined> {
  return tx
    .insertInto('cohort_video')
    .values(row)
    .onConflict((conflict) => conflict.columns(['cohort_id', 'video_id']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

export async function deleteVideo(tx: Tx, cohortId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('cohort_video')
    .where('cohort_id', '=', cohortId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Lists cohorts whose members may watch the video now. */
export async function cohortsWithVideo(db: Db, videoId: string, now: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('cohort_video')
    .innerJoin('cohort', 'cohort.id', 'cohort_video.cohort_id')
    .select('cohort.id')
    .where('cohort_video.video_id', '=', videoId)
    .where('cohort.status', '!=', 'CANCELED')
    .where(sql<boolean>`coalesce(cohort_video.release_at, '-infinity') <= ${now}`)
    .execute();
  return rows.map(({ id }) => id);
}
