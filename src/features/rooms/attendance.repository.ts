import { sql } from 'kysely';
import type { Tx } from '../../platform/db/index.ts';

/** Somebody who is in a room, and how far their time is counted. */
export interface AttendanceRow {
  id: string;
  workspaceId: string;
  countedUntil: Date;
}

/** Those that nobody else holds, by the order of their ids after this one. What a stream plays is nobody's minutes. */
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
