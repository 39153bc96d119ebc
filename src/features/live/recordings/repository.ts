import { type Selectable, sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { isLost } from '../../../platform/db/media-node.ts';
import type { RecordingPartTable, RecordingTable } from '../../../platform/db/tables.generated.ts';

export type RecordingRow = Selectable<RecordingTable>;
export type PartRow = Selectable<RecordingPartTable>;

/** Lists the publishes of a node whose broadcast must be recorded, with the last recording of each. */
export function listDesiredForNode(db: Db, nodeId: string) {
  return db
    .selectFrom('ingest_session')
    .innerJoin('stream', 'stream.id', 'ingest_session.stream_id')
    .innerJoin('stream_session', 'stream_session.id', 'stream.current_session_id')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('recording')
          .select(['number', 'created_at'])
          .whereRef('recording.session_id', '=', 'stream_session.id')
          .orderBy('number', 'desc')
          .limit(1)
          .as('last'),
      (join) => join.onTrue(),
    )
    .select([
      'ingest_session.id as publishId',
      'stream_session.id as sessionId',
      'stream_session.error',
      'last.number',
      'last.created_at as begunAt',
    ])
    .where('ingest_session.node_id', '=', nodeId)
    .where('ingest_session.ended_at', 'is', null)
    .where('stream.is_live', '=', true)
    .where('stream.record', '=', true)
    .where('stream_session.broadcast_started_at', 'is not', null)
    .where('stream_session.broadcast_ended_at', 'is', null)
    .execute();
}

/** Returns the recording and creates it when it is missing; undefined when the session does not exist. */
export async function ensureRecording(
  tx: Tx,
  { id, sessionId, number }: { id: string; sessionId: string; number: number },
  now: Date,
): Promise<RecordingRow | undefined> {
  await tx
    .insertInto('recording')
    .columns(['id', 'number', 'session_id', 'workspace_id', 'stream_id', 'created_at'])
    .expression((eb) =>
      eb
        .selectFrom('stream_session')
        .select((select) => [
          select.val(id).as('recording_id'),
          sql<number>`${number}::integer`.as('number'),
          'id',
          'workspace_id',
          'stream_id',
          select.val(now).as('created_at'),
        ])
        .where('id', '=', sessionId),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return lockRecording(tx, id);
}

/** Returns the video IDs in the order of the broadcast. */
export async function findVideoIds(db: Db, sessionId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('recording')
    .select('video_id')
    .where('session_id', '=', sessionId)
    .orderBy('number')
    .execute();
  return rows.flatMap(({ video_id: id }) => (id === null ? [] : [id]));
}

/**
 * Lists the recordings of a session in order; a broadcast of more than twelve hours has several. A recording
 * whose files are removed is excluded.
 */
export function recordingsOf(db: Db, sessionId: string) {
  return db
    .selectFrom('recording')
    .leftJoin('video', 'video.id', 'recording.video_id')
    .select([
      'recording.number',
      'recording.video_id as videoId',
      sql<boolean>`recording.settled_at is null
        or coalesce(video.status not in ('READY', 'FAILED') and video.deleted_at is null, false)`.as(
        'isComing',
      ),
    ])
    .where('recording.session_id', '=', sessionId)
    .orderBy('recording.number')
    .execute();
}

export function lockRecording(tx: Tx, id: string): Promise<RecordingRow | undefined> {
  return tx.selectFrom('recording').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

/** Locks the recordings of a session in order. */
export function lockRecordings(tx: Tx, sessionId: string): Promise<RecordingRow[]> {
  return tx
    .selectFrom('recording')
    .selectAll()
    .where('session_id', '=', sessionId)
    .orderBy('number')
    .forUpdate()
    .execute();
}

/** Reports whether the session continues in another recording. */
export async function hasSuccessor(tx: Tx, { session_id, number }: RecordingRow): Promise<boolean> {
  const next = await tx
    .selectFrom('recording')
    .select('id')
    .where('session_id', '=', session_id)
    .where('number', '>', number)
    .limit(1)
    .executeTakeFirst();
  return next !== undefined;
}

/** Finds the data on which the end of the recording depends. Call it under the lock of the recording. */
export function broadcastOf(tx: Tx, sessionId: string) {
  return tx
    .selectFrom('stream_session')
    .innerJoin('stream', 'stream.id', 'stream_session.stream_id')
    .innerJoin('workspace', 'workspace.id', 'stream_session.workspace_id')
    .select([
      'stream_session.broadcast_ended_at as endedAt',
      'stream.title',
      'stream.record_visibility as visibility',
      'stream.tier_ids as tierIds',
      'workspace.account_id as accountId',
    ])
    .where('stream_session.id', '=', sessionId)
    .executeTakeFirstOrThrow();
}

export function findRecording(db: Db, id: string): Promise<RecordingRow | undefined> {
  return db.selectFrom('recording').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function updateRecording(
  tx: Tx,
  id: string,
  change: Partial<Pick<RecordingRow, 'video_id' | 'settled_at'>>,
): Promise<void> {
  await tx.updateTable('recording').set(change).where('id', '=', id).execute();
}

/** @returns undefined when the recording is already marked, or the video belongs to none. */
export function markReady(tx: Tx, sessionId: string, videoId: string, now: Date) {
  return tx
    .updateTable('recording')
    .set({ ready_notified_at: now })
    .where('session_id', '=', sessionId)
    .where('video_id', '=', videoId)
    .where('ready_notified_at', 'is', null)
    .returning('stream_id')
    .executeTakeFirst();
}

/** Lists the parts in the order of their recording. */
export function partsOf(db: Db, recordingId: string): Promise<PartRow[]> {
  return db
    .selectFrom('recording_part')
    .selectAll()
    .where('recording_id', '=', recordingId)
    .orderBy('id')
    .execute();
}

export function openPartsOn(db: Db, nodeId: string) {
  return db
    .selectFrom('recording_part')
    .select(['id', 'recording_id as recordingId'])
    .where('node_id', '=', nodeId)
    .where('closed_at', 'is', null)
    .execute();
}

export function findPart(db: Db, id: string): Promise<PartRow | undefined> {
  return db.selectFrom('recording_part').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Inserts the part; for a known part only the media flag is updated. */
export async function upsertPart(
  tx: Tx,
  part: Pick<PartRow, 'id' | 'recording_id' | 'node_id' | 'has_media'>,
  now: Date,
): Promise<void> {
  await tx
    .insertInto('recording_part')
    .values({ ...part, started_at: now })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet({ has_media: sql<boolean>`recording_part.has_media or excluded.has_media` }),
    )
    .execute();
}

/**
 * @param sizeBytes null when there is no file.
 * @returns the storage that was reserved for the part; null when it was already closed.
 */
export async function closePart(
  tx: Tx,
  id: string,
  sizeBytes: number | null,
  now: Date,
): Promise<number | null> {
  const before = await tx
    .selectFrom('recording_part')
    .select('reserved_bytes')
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
  if (before === undefined) return null;
  await tx
    .updateTable('recording_part')
    .set({ closed_at: now, size_bytes: sizeBytes, reserved_bytes: sizeBytes ?? 0 })
    .where('id', '=', id)
    .execute();
  return before.reserved_bytes;
}

/** Lists the open parts among these IDs, with the workspace whose storage they use. */
export function listOpenParts(db: Db, ids: readonly string[]) {
  return db
    .selectFrom('recording_part')
    .innerJoin('recording', 'recording.id', 'recording_part.recording_id')
    .select(['recording_part.id', 'reserved_bytes', 'workspace_id', 'session_id'])
    .where('recording_part.id', 'in', ids)
    .where('closed_at', 'is', null)
    .execute();
}

/** @returns false when the part is closed. */
export async function reservePartStorage(tx: Tx, id: string, from: number, bytes: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('recording_part')
    .set({ reserved_bytes: bytes })
    .where('id', '=', id)
    .where('reserved_bytes', '=', from)
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/**
 * Releases the storage reserved for the parts.
 * @returns the bytes they had reserved.
 */
export async function releasePartStorage(tx: Tx, recordingId: string): Promise<number> {
  const parts = await tx
    .selectFrom('recording_part')
    .select('reserved_bytes')
    .where('recording_id', '=', recordingId)
    .execute();
  await tx
    .updateTable('recording_part')
    .set({ reserved_bytes: 0 })
    .where('recording_id', '=', recordingId)
    .execute();
  return parts.reduce((sum, part) => sum + part.reserved_bytes, 0);
}

/** Lists open parts of ended recordings whose node was silent since `deadline`. */
export function listOrphanedParts(db: Db, deadline: Date): Promise<PartRow[]> {
  return db
    .selectFrom('recording_part')
    .innerJoin('recording', 'recording.id', 'recording_part.recording_id')
    .innerJoin('stream_session', 'stream_session.id', 'recording.session_id')
    .selectAll('recording_part')
    .where('recording_part.closed_at', 'is', null)
    .where(isLost('recording_part', deadline))
    .where((eb) =>
      eb.or([
        eb('stream_session.broadcast_ended_at', 'is not', null),
        eb.exists(
          eb
            .selectFrom('recording as next')
            .select('next.id')
            .whereRef('next.session_id', '=', 'recording.session_id')
            .whereRef('next.number', '>', 'recording.number'),
        ),
      ]),
    )
    .limit(100)
    .execute();
}

/** Lists settled recordings whose files are no longer needed: they have no video, or it was purged. */
export function obsoleteRecordings(db: Db): Promise<RecordingRow[]> {
  return db
    .selectFrom('recording')
    .selectAll()
    .where('settled_at', 'is not', null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('video')
            .select('video.id')
            .whereRef('video.id', '=', 'recording.video_id')
            .where('video.purged_at', 'is', null),
        ),
      ),
    )
    .limit(100)
    .execute();
}

export async function deleteRecording(db: Db, id: string): Promise<void> {
  await db.deleteFrom('recording').where('id', '=', id).execute();
}
