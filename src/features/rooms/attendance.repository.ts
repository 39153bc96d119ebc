import { sql } from 'kysely';
import type { Tx } from '../../platform/db/index.ts';

/** Participant in a room, and the end of the counted time. */
export interface AttendanceRow {
  id: string;
  workspaceId: string;
  countedUntil: Date;
}

/**
 * Claims participants that no other process holds, ordered by ID, after this ID. Played streams count no
 * minutes.
 */
export async function claimAttendance(tx: Tx, after: string, most: number): Promise<AttendanceRow[]> {
  const { rows } = await sql<AttendanceRow>`
    select room_participant.id, room.workspace_id as "workspaceId",
      coalesce(room_participant.metered_until, room_participant.joined_at) as "countedUntil"
    from room_participant join room on room.id = room_participant.room_id
    where room_participant.id > ${after} and room_participant.state = 'ACTIVE'
      and room_participant.bridge_id is null and room_participant.joined_at is not null
    order by room_participant.id limit ${most} for no key update of room_participant skip locked`.execute(tx);
  return rows;
}

export async function setCounted(tx: Tx, ids: readonly string[], until: Date): Promise<void> {
  await tx
    .updateTable('room_participant')
    .set({ metered_until: until })
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .execute();
}
