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

/** The one of the room that goes on ends. */
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

/** Those whose room is over, deleted, or not recorded any more, end. */
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

/** Rooms that are to be recorded from the first person on, and have not been since somebody came. */
export async function roomsToBegin(db: Db): Promise<string[]> {
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

/** What this node writes or has written, and what nobody writes yet: that is this node's from now on. */
export async function takeUnsettled(db: Db, nodeId: string): Promise<RoomRecordingRow[]> {
  await db
    .updateTable('room_recording')
    .set({ node_id: nodeId })
    .where('node_id', 'is', null)
    .where('collected_at', 'is', null)
    .execute();
  return db
    .selectFrom('room_recording')
    .selectAll()
    .where('settled_at', 'is', null)
    .where('node_id', '=', nodeId)
    .where('collected_at', 'is', null)
    .execute();
}

/** @returns false when somebody else has changed it meanwhile, or it is collected. */
export async function holdBytes(tx: Tx, id: string, before: number, bytes: number): Promise<boolean> {
  const held = await tx
    .updateTable('room_recording')
    .set({ held_bytes: bytes })
    .where('id', '=', id)
    .where('held_bytes', '=', before)
    .where('collected_at', 'is', null)
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

/** That the video can be played is said now. @returns undefined when it is no recording, or it was said before. */
export function markReady(tx: Tx, videoId: string, now: Date): Promise<RoomRecordingRow | undefined> {
  return tx
    .updateTable('room_recording')
    .set({ ready_said_at: now })
    .where('video_id', '=', videoId)
    .where('ready_said_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** What people were called last. */
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

/** Ended, and not heard of by the node that has the files. */
export function lostBefore(db: Db, before: Date): Promise<RoomRecordingRow[]> {
  return db
    .selectFrom('room_recording')
    .selectAll()
    .where('settled_at', 'is', null)
    .where('collected_at', 'is', null)
    .where('ended_at', '<', before)
    .execute();
}
