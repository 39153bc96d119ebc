import type { Insertable, Selectable } from 'kysely';
import type { Db } from '../../platform/db/index.ts';
import type { RoomMessageTable } from '../../platform/db/tables.generated.ts';

export type MessageRow = Selectable<RoomMessageTable>;

export async function insertMessage(db: Db, row: Insertable<RoomMessageTable>): Promise<void> {
  await db.insertInto('room_message').values(row).execute();
}

/** Lists the messages of other nodes in the room since a time, oldest first. */
export function messagesSince(db: Db, roomId: string, nodeId: string, since: Date): Promise<MessageRow[]> {
  return db
    .selectFrom('room_message')
    .selectAll()
    .where('room_id', '=', roomId)
    .where('node_id', '<>', nodeId)
    .where('created_at', '>=', since)
    .orderBy('id')
    .execute();
}

export async function deleteMessages(db: Db, before: Date): Promise<void> {
  await db.deleteFrom('room_message').where('created_at', '<', before).execute();
}
