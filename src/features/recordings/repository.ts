import { type Selectable, sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { RecordingPartTable, RecordingTable } from '../../platform/db/tables.generated.ts';

export type RecordingRow = Selectable<RecordingTable>;
export type PartRow = Selectable<RecordingPartTable>;

/** The publishes of a node whose broadcast is on and to be recorded. */
export function wantedOn(db: Db, nodeId: string) {
  return db
    .selectFrom('ingest_session')
    .innerJoin('stream', 'stream.id', 'ingest_session.stream_id')
    .innerJoin('stream_session', 'stream_session.id', 'stream.current_session_id')
    .select(['ingest_session.id as publishId', 'stream_session.id as recordingId'])
    .where('ingest_session.node_id', '=', nodeId)
    .where('ingest_session.ended_at', 'is', null)
    .where('stream.is_live', '=', true)
    .where('stream.record', '=', true)
    .where('stream_session.broadcast_started_at', 'is not', null)
    .where('stream_session.broadcast_ended_at', 'is', null)
    .where('stream_session.error', 'is distinct from', 'QUOTA_EXCEEDED')
    .execute();
}

/** The node still has its open parts; written at most every `staleBefore`. */
export async function touchParts(db: Db, nodeId: string, now: Date, staleBefore: Date): Promise<void> {
  await db
    .updateTable('recording_part')
    .set({ seen_at: now })
    .where('node_id', '=', nodeId)
    .where('closed_at', 'is', null)
    .where('seen_at', '<', staleBefore)
    .execute();
}

/** The recording of a session, made when there is none. Undefined when there is no such session. */
export async function ensureRecording(
  tx: Tx,
  sessionId: string,
  now: Date,
): Promise<RecordingRow | undefined> {
  await tx
    .insertInto('recording')
    .columns(['session_id', 'workspace_id', 'stream_id', 'created_at'])
    .expression((eb) =>
      eb
        .selectFrom('stream_session')
        .select((select) => ['id', 'workspace_id', 'stream_id', select.val(now).as('created_at')])
        .where('id', '=', sessionId),
    )
    .onConflict((conflict) => conflict.column('session_id').doNothing())
    .execute();
  return lockRecording(tx, sessionId);
}

export function lockRecording(tx: Tx, sessionId: string): Promise<RecordingRow | undefined> {
  return tx
    .selectFrom('recording')
    .selectAll()
    .where('session_id', '=', sessionId)
    .forUpdate()
    .executeTakeFirst();
}

/** What the end of the recording depends on, read under its lock. */
export function broadcastOf(tx: Tx, sessionId: string) {
  return tx
    .selectFrom('stream_session')
    .innerJoin('stream', 'stream.id', 'stream_session.stream_id')
    .innerJoin('workspace', 'workspace.id', 'stream_session.workspace_id')
    .select([
      'stream_session.broadcast_ended_at as endedAt',
      'stream.title',
      'stream.record_visibility as visibility',
      'workspace.account_id as accountId',
    ])
    .where('stream_session.id', '=', sessionId)
    .executeTakeFirstOrThrow();
}

export function findRecording(db: Db, sessionId: string): Promise<RecordingRow | undefined> {
  return db.selectFrom('recording').selectAll().where('session_id', '=', sessionId).executeTakeFirst();
}

export async function updateRecording(
  tx: Tx,
  sessionId: string,
  change: Partial<Pick<RecordingRow, 'video_id' | 'settled_at'>>,
): Promise<void> {
  await tx.updateTable('recording').set(change).where('session_id', '=', sessionId).execute();
}

/** @returns undefined when it was marked before, or is no recording's video. */
export function markReady(tx: Tx, sessionId: string, videoId: string, now: Date) {
  return tx
    .updateTable('recording')
    .set({ ready_said_at: now })
    .where('session_id', '=', sessionId)
    .where('video_id', '=', videoId)
    .where('ready_said_at', 'is', null)
    .returning('stream_id')
    .executeTakeFirst();
}

/** In the order of their recording. */
export function partsOf(db: Db, sessionId: string): Promise<PartRow[]> {
  return db
    .selectFrom('recording_part')
    .selectAll()
    .where('session_id', '=', sessionId)
    .orderBy('id')
    .execute();
}

export function openPartsOn(db: Db, nodeId: string) {
  return db
    .selectFrom('recording_part')
    .select(['id', 'session_id as recordingId'])
    .where('node_id', '=', nodeId)
    .where('closed_at', 'is', null)
    .execute();
}

export function findPart(db: Db, id: string): Promise<PartRow | undefined> {
  return db.selectFrom('recording_part').selectAll().where('id', '=', id).executeTakeFirst();
}

/** A part that is known already only learns that it has media. */
export async function upsertPart(
  tx: Tx,
  part: Pick<PartRow, 'id' | 'session_id' | 'node_id' | 'has_media'>,
  now: Date,
): Promise<void> {
  await tx
    .insertInto('recording_part')
    .values({ ...part, started_at: now, seen_at: now })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet({ has_media: sql<boolean>`recording_part.has_media or excluded.has_media` }),
    )
    .execute();
}

/** @param sizeBytes null when there is nothing to keep. */
export async function closePart(tx: Tx, id: string, sizeBytes: number | null, now: Date): Promise<void> {
  await tx
    .updateTable('recording_part')
    .set({ closed_at: now, size_bytes: sizeBytes })
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .execute();
}

/** Open parts of ended broadcasts whose node was not heard of since `deadline`. */
export function lostParts(db: Db, deadline: Date): Promise<PartRow[]> {
  return db
    .selectFrom('recording_part')
    .innerJoin('stream_session', 'stream_session.id', 'recording_part.session_id')
    .selectAll('recording_part')
    .where('recording_part.closed_at', 'is', null)
    .where('recording_part.seen_at', '<', deadline)
    .where('stream_session.broadcast_ended_at', 'is not', null)
    .limit(100)
    .execute();
}

/** Settled recordings whose files nobody needs: they have no video, or it was purged. */
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

export async function deleteRecording(db: Db, sessionId: string): Promise<void> {
  await db.deleteFrom('recording').where('session_id', '=', sessionId).execute();
}
