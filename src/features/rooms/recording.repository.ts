import { type Selectable, sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { RoomRecordingTable } from '../../platform/db/tables.generated.ts';

export type RoomRecordingRow = Selectable<RoomRecordingTable>;
export type RoomRecordingChange = Partial<RoomRecordingRow>;

export async function insertRecording(
  tx: Tx,
  row: Pick<RoomRecordingRow, 'id' | 'workspace_id' | 'room_id' | 'title' | 'layout' | 'started_at'>,
): Promise<void> {
  await tx.insertInto('room_recording').values(row).execute();
}

export function findRecording(db: Db, id: string): Promise<RoomRecordingRow | undefined> {
  return db.selectFrom('room_recording').selectAll().where('id', '=', id).executeTakeFirst();
}

export function lockRecording(tx: Tx, id: string): Promise<RoomRecordingRow | undefined> {
  return tx.selectFrom('room_recording').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

export async function updateRecording(tx: Tx, id: string, change: RoomRecordingChange): Promise<void> {
  await tx.updateTable('room_recording').set(change).where('id', '=', id).execute();
}

/** Ends the active recording of the room. */
export async function endOpen(
  tx: Tx,
  roomId: string,
  change: Pick<RoomRecordingRow, 'ended_at' | 'end_reason'>,
): Promise<void> {
  await tx
    .updateTable('room_recording')
    .set(change)
    .where('room_id', '=', roomId)
    .where('ended_at', 'is', null)
    .execute();
}

/** Ends recordings whose room has ended, is deleted, or is no longer recorded. */
export async function endOrphans(db: Db, now: Date): Promise<void> {
  await db
    .updateTable('room_recording')
    .set({ ended_at: now })
    .where('ended_at', 'is', null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('room')
            .select('room.id')
            .whereRef('room.id', '=', 'room_recording.room_id')
            .where('room.recording_since', 'is not', null),
        ),
      ),
    )
    .execute();
}

/** Lists rooms that are recorded from the first person on and have no recording since a person joined. */
export async function listRoomsToRecord(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('room')
    .select('id')
    .where('status', '=', 'ACTIVE')
    .where('record_enabled', '=', true)
    .where('recording_since', 'is', null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('room_recording')
            .select('room_recording.id')
            .whereRef('room_recording.room_id', '=', 'room.id')
            .whereRef('room_recording.started_at', '>=', 'room.started_at'),
        ),
      ),
    )
    .execute();
  return rows.map(({ id }) => id);
}

/** Claims unclaimed recordings for this node, and lists all unsettled recordings of the node. */
export async function claimUnsettled(db: Db, nodeId: string): Promise<RoomRecordingRow[]> {
  await db
    .updateTable('room_recording')
    .set({ node_id: nodeId })
    .where('node_id', 'is', null)
    .where('uploaded_at', 'is', null)
    .execute();
  return db
    .selectFrom('room_recording')
    .selectAll()
    .where('settled_at', 'is', null)
    .where('node_id', '=', nodeId)
    .where('uploaded_at', 'is', null)
    .execute();
}

/** @returns false when another process has changed it in between, or the recording is collected. */
export async function reserveStorage(tx: Tx, id: string, before: number, bytes: number): Promise<boolean> {
  const held = await tx
    .updateTable('room_recording')
    .set({ reserved_bytes: bytes })
    .where('id', '=', id)
    .where('reserved_bytes', '=', before)
    .where('uploaded_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return held !== undefined;
}

export async function addVideo(tx: Tx, roomId: string, videoId: string): Promise<void> {
  await tx
    .updateTable('room')
    .set({ recording_video_ids: sql`array_append(recording_video_ids, ${videoId})` })
    .where('id', '=', roomId)
    .execute();
}

/**
 * Stores the room ID before the room is deleted, after its last event: later events of its recordings need
 * it.
 */
export async function retainRoomId(tx: Tx, roomId: string): Promise<void> {
  await tx
    .updateTable('room_recording')
    .from('room')
    .set((eb) => ({ deleted_room_id: roomId, deleted_room_sequence: eb.ref('room.event_sequence') }))
    .where('room.id', '=', roomId)
    .where('room_recording.room_id', '=', roomId)
    .where('ready_notified_at', 'is', null)
    .execute();
}

/** @param videoId of a recording whose ready event was not emitted yet. */
export function listUnnotified(tx: Tx, videoId: string): Promise<RoomRecordingRow | undefined> {
  return tx
    .selectFrom('room_recording')
    .selectAll()
    .where('video_id', '=', videoId)
    .where('ready_notified_at', 'is', null)
    .executeTakeFirst();
}

/** Returns the number of the next event of a deleted room, and locks its recordings in one order. */
export async function nextOfDeleted(tx: Tx, roomId: string): Promise<number> {
  const { rows } = await sql<{ sequence: number }>`
    with of_room as materialized (
      select id from room_recording where deleted_room_id = ${roomId} order by id for no key update)
    update room_recording set deleted_room_sequence = deleted_room_sequence + 1
    where id in (select id from of_room) returning deleted_room_sequence as sequence`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error(`there is no recording of the deleted room ${roomId}`);
  return row.sequence;
}

/** Returns the last names of the participants. */
export async function namesIn(db: Db, roomId: string): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('room_participant')
    .select(['identity', 'name'])
    .where('room_id', '=', roomId)
    .where('name', 'is not', null)
    .orderBy('id')
    .execute();
  return new Map(rows.map(({ identity, name }) => [identity, name ?? identity]));
}

/** Lists ended recordings whose node, which has the files, was silent since this time. */
export function listOrphanedRecordings(db: Db, before: Date): Promise<RoomRecordingRow[]> {
  return db
    .selectFrom('room_recording')
    .selectAll()
    .where('settled_at', 'is', null)
    .where('uploaded_at', 'is', null)
    .where('ended_at', '<', before)
    .execute();
}
