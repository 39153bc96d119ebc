import { type Selectable, sql } from 'kysely';
import type { DvrPosition, HistorySegment } from '../../../media/contract/index.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { DvrSegmentTable } from '../../../platform/db/tables.generated.ts';

export type SegmentRow = Selectable<DvrSegmentTable>;

/** Segments may begin a little before the start of their broadcast. */
const BEGINS_BEFORE_MS = 30_000;

/** Lists the broadcasts on a node with a history, each with the start of its newest segment. */
export function listRecordingForNode(db: Db, nodeId: string) {
  return db
    .selectFrom('ingest_session')
    .innerJoin('stream', 'stream.id', 'ingest_session.stream_id')
    .select((eb) => [
      'stream.id as streamId',
      'stream.workspace_id as workspaceId',
      'stream.live_since as since',
      eb
        .selectFrom('dvr_segment')
        .select(({ fn }) => fn.max('start_ms').as('newest'))
        .whereRef('dvr_segment.stream_id', '=', 'stream.id')
        .where('start_ms', '>=', sql<number>`extract(epoch from live_since) * 1000 - ${BEGINS_BEFORE_MS}`)
        .as('keptUntilMs'),
    ])
    .where('ingest_session.node_id', '=', nodeId)
    .where('ingest_session.ended_at', 'is', null)
    .where('stream.is_live', '=', true)
    .where('stream.dvr_window_sec', '>', 0)
    .execute();
}

/** Finds the workspace of a live stream that retains its history; undefined for other streams. */
export async function findDvrWorkspace(db: Db, streamId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('stream')
    .select('workspace_id')
    .where('id', '=', streamId)
    .where('is_live', '=', true)
    .where('dvr_window_sec', '>', 0)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row?.workspace_id;
}

/** @returns false when the segment already exists. */
export async function insertSegment(tx: Tx, workspaceId: string, segment: HistorySegment): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('dvr_segment')
    .values({
      stream_id: segment.streamId,
      workspace_id: workspaceId,
      epoch: segment.epoch,
      file: segment.file,
      seq: segment.seq,
      discontinuity: segment.disc,
      start_ms: segment.startMs,
      duration_sec: segment.durationSec,
      rungs: JSON.stringify(segment.rungs),
      size_bytes: totalBytes(segment),
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Returns the stored size of a segment across all rungs. */
export function totalBytes({ rungs }: HistorySegment): number {
  return Object.values(rungs).reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Lists the segments that began after a moment, oldest first. */
export function segmentsAfter(db: Db, streamId: string, afterMs: number): Promise<SegmentRow[]> {
  return db
    .selectFrom('dvr_segment')
    .selectAll()
    .where('stream_id', '=', streamId)
    .where('start_ms', '>', afterMs)
    .orderBy('start_ms')
    .execute();
}

/** Returns the start of the oldest segment; null when there is none. */
export async function oldestMs(db: Db, streamId: string): Promise<number | null> {
  const row = await db
    .selectFrom('dvr_segment')
    .select(({ fn }) => fn.min('start_ms').as('oldest'))
    .where('stream_id', '=', streamId)
    .executeTakeFirst();
  return row?.oldest ?? null;
}

/** Returns the position of the newest segment; null when there is none. */
export async function lastNumbers(db: Db, streamId: string): Promise<DvrPosition | null> {
  const row = await db
    .selectFrom('dvr_segment')
    .select(['seq', 'discontinuity as disc', 'epoch'])
    .where('stream_id', '=', streamId)
    .orderBy('start_ms', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

export function oldest(db: Db, streamId: string, limit: number): Promise<SegmentRow[]> {
  return db
    .selectFrom('dvr_segment')
    .selectAll()
    .where('stream_id', '=', streamId)
    .orderBy('start_ms')
    .limit(limit)
    .execute();
}

/** Lists segments outside of the window of their broadcast, or of an earlier broadcast, in order of time. */
export function pastSegments(db: Db, nowMs: number, limit: number): Promise<SegmentRow[]> {
  return db
    .selectFrom('stream')
    .innerJoin('dvr_segment', 'dvr_segment.stream_id', 'stream.id')
    .selectAll('dvr_segment')
    .where('stream.is_live', '=', true)
    .where('stream.dvr_window_sec', '>', 0)
    .where((eb) =>
      eb.or([
        eb('start_ms', '<', sql<number>`${nowMs}::double precision - dvr_window_sec * 1000.0`),
        eb('start_ms', '<', sql<number>`extract(epoch from live_since) * 1000 - ${BEGINS_BEFORE_MS}`),
      ]),
    )
    .orderBy('dvr_segment.stream_id')
    .orderBy('start_ms')
    .limit(limit)
    .execute();
}

/**
 * Lists streams with a history that are not live, or no longer retain one.
 * @param id limits the list to this stream.
 */
export function listExpiredHistories(db: Db, id?: string) {
  return db
    .selectFrom('stream')
    .select(['id', 'workspace_id', 'current_session_id', 'ended_at', 'deleted_at', 'dvr_window_sec'])
    .where((eb) => eb.or([eb('is_live', '=', false), eb('dvr_window_sec', '=', 0)]))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('dvr_segment')
          .select('dvr_segment.epoch')
          .whereRef('dvr_segment.stream_id', '=', 'stream.id'),
      ),
    )
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
    .limit(100)
    .execute();
}

/**
 * Deletes the segments that begin at or before a moment.
 * @returns the freed bytes.
 */
export async function deleteUntil(tx: Tx, streamId: string, untilMs: number): Promise<number> {
  const rows = await tx
    .deleteFrom('dvr_segment')
    .where('stream_id', '=', streamId)
    .where('start_ms', '<=', untilMs)
    .returning('size_bytes')
    .execute();
  return rows.reduce((sum, row) => sum + row.size_bytes, 0);
}
