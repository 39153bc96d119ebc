import { sql } from 'kysely';
import type { Db } from '../../platform/db/index.ts';
import type { ParticipantRow } from './participants.repository.ts';

/** Returns the streams that rooms are bridged to now or soon. */
export async function streamsOf(db: Db, roomIds: readonly string[]): Promise<Map<string, string>> {
  if (roomIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('bridge')
    .select(['source_id', 'target_id'])
    .where((eb) => eb('source_id', '=', eb.fn.any(eb.val(roomIds))))
    .where('type', '=', 'ROOM_TO_STREAM')
    .where('status', 'not in', ['FAILED', 'STOPPED'])
    .orderBy('id', 'desc')
    .execute();
  // The oldest of several comes last and wins.
  return new Map(rows.map(({ source_id: roomId, target_id: streamId }) => [roomId ?? '', streamId]));
}

/** Returns the ONE_TO_ONE bookings that rooms were created for. */
export async function bookingsOf(db: Db, roomIds: readonly string[]): Promise<Map<string, string>> {
  if (roomIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('booking')
    .select(['id', 'room_id'])
    .where((eb) => eb('room_id', '=', eb.fn.any(eb.val(roomIds))))
    .where('type', '=', 'ONE_TO_ONE')
    .execute();
  return new Map(rows.map(({ id, room_id: roomId }) => [roomId ?? '', id]));
}

/** Finds the newest stay of a bridge in a room. */
export function findBridgeParticipant(
  db: Db,
  roomId: string,
  bridgeId: string,
): Promise<ParticipantRow | undefined> {
  return db
    .selectFrom('room_participant')
    .selectAll()
    .where('room_id', '=', roomId)
    .where('bridge_id', '=', bridgeId)
    .orderBy('id', 'desc')
    .executeTakeFirst();
}

/** Lists participants whose bridge has ended. */
export function listOrphanedParticipants(db: Db): Promise<{ id: string; room_id: string }[]> {
  return db
    .selectFrom('room_participant as seat')
    .select(['seat.id', 'seat.room_id'])
    .where('seat.bridge_id', 'is not', null)
    .where('seat.state', '<>', 'LEFT')
    .where(
      sql<boolean>`not exists (select from bridge where bridge.id = seat.bridge_id and (
        bridge.status in ('CONNECTING', 'ACTIVE')
        or (bridge.status = 'PENDING' and bridge.node_id is not null and bridge.next_retry_at is null)))`,
    )
    .limit(500)
    .execute();
}
