import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { PageRequest } from '../../kernel/page.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { pagePerCombination } from '../../platform/db/page-filters.ts';
import {
  type RoomParticipantState,
  type RoomParticipantTable,
  VALUES,
} from '../../platform/db/tables.generated.ts';

export type ParticipantRow = Selectable<RoomParticipantTable>;
export type ParticipantChange = Updateable<RoomParticipantTable>;

export interface ParticipantFilter {
  state?: readonly RoomParticipantState[] | undefined;
  identity?: string | undefined;
}

export function insertParticipant(tx: Tx, row: Insertable<RoomParticipantTable>): Promise<ParticipantRow> {
  return tx.insertInto('room_participant').values(row).returningAll().executeTakeFirstOrThrow();
}

export function updateParticipant(tx: Tx, id: string, change: ParticipantChange): Promise<ParticipantRow> {
  return tx
    .updateTable('room_participant')
    .set(change)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Updates the row only for its newest connection. @returns whether it was the newest. */
export async function updateConnected(
  db: Db,
  id: string,
  connectionId: string | null,
  change: ParticipantChange,
): Promise<boolean> {
  const row = await db
    .updateTable('room_participant')
    .set(change)
    .where('id', '=', id)
    .where('connection_id', '=', connectionId)
    .where('state', '<>', 'LEFT')
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Reports whether the identity was ever in the room or its waiting room. */
export async function wasIn(db: Db, roomId: string, identity: string): Promise<boolean> {
  const row = await db
    .selectFrom('room_participant')
    .select('id')
    .where('room_id', '=', roomId)
    .where('identity', '=', identity)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export function findParticipant(db: Db, roomId: string, id: string): Promise<ParticipantRow | undefined> {
  return db
    .selectFrom('room_participant')
    .selectAll()
    .where('room_id', '=', roomId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Finds the present or waiting participant with the identity. */
export function findPresent(db: Db, roomId: string, identity: string): Promise<ParticipantRow | undefined> {
  return db
    .selectFrom('room_participant')
    .selectAll()
    .where('room_id', '=', roomId)
    .where('identity', '=', identity)
    .where('state', '<>', 'LEFT')
    .executeTakeFirst();
}

/** Returns the newest stay of an identity, whether or not it has ended. */
export function findNewestStay(
  db: Db,
  roomId: string,
  identity: string,
): Promise<ParticipantRow | undefined> {
  return db
    .selectFrom('room_participant')
    .selectAll()
    .where('room_id', '=', roomId)
    .where('identity', '=', identity)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Lists the present and waiting participants, first arrival first. */
export function presentIn(db: Db, roomId: string): Promise<ParticipantRow[]> {
  return db
    .selectFrom('room_participant')
    .selectAll()
    .where('room_id', '=', roomId)
    .where('state', '<>', 'LEFT')
    .orderBy('id')
    .execute();
}

export async function presentInAll(db: Db, roomIds: readonly string[]): Promise<ParticipantRow[]> {
  if (roomIds.length === 0) return [];
  return db
    .selectFrom('room_participant')
    .selectAll()
    .where((eb) => eb('room_id', '=', eb.fn.any(eb.val(roomIds))))
    .where('state', '<>', 'LEFT')
    .orderBy('id')
    .execute();
}

export function participantsByIds(db: Db, roomId: string, ids: readonly string[]): Promise<ParticipantRow[]> {
  return db
    .selectFrom('room_participant')
    .selectAll()
    .where('room_id', '=', roomId)
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .execute();
}

export function listParticipants(
  db: Db,
  roomId: string,
  filter: ParticipantFilter,
  page: PageRequest,
): Promise<ParticipantRow[]> {
  const { state, identity } = filter;
  const listed = { table: 'room_participant', of: { room_id: roomId, identity } };
  return db
    .selectFrom('room_participant')
    .selectAll()
    .where(pagePerCombination(page, listed, { state: [state, VALUES.room_participant.state] }))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

/** Counts the participants of each room, without waiting ones. */
export async function countParticipants(db: Db, roomIds: readonly string[]): Promise<Map<string, number>> {
  if (roomIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('room_participant')
    .select(['room_id', (eb) => eb.fn.countAll<number>().as('count')])
    .where((eb) => eb('room_id', '=', eb.fn.any(eb.val(roomIds))))
    .where('state', '=', 'ACTIVE')
    .groupBy('room_id')
    .execute();
  return new Map(rows.map(({ room_id: id, count }) => [id, count]));
}

/** Counts the participants that are people. */
export async function countPeople(db: Db, roomId: string): Promise<number> {
  const { count } = await db
    .selectFrom('room_participant')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('room_id', '=', roomId)
    .where('state', '=', 'ACTIVE')
    .where('bridge_id', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

export async function countWaiting(db: Db, roomId: string): Promise<number> {
  const { count } = await db
    .selectFrom('room_participant')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('room_id', '=', roomId)
    .where('state', '=', 'JOINING')
    .executeTakeFirstOrThrow();
  return count;
}

/** Returns the highest occupancy of a room in a workspace. */
export async function peakRoomOccupancy(db: Db, workspaceId: string): Promise<number> {
  const row = await db
    .selectFrom('room_participant')
    .innerJoin('room', 'room.id', 'room_participant.room_id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('room.workspace_id', '=', workspaceId)
    .where('room_participant.state', '=', 'ACTIVE')
    .groupBy('room.id')
    .orderBy('count', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.count ?? 0;
}

// Queries of nodes and of their reports about connections.

export async function heartbeatNode(db: Db, id: string, now: Date): Promise<void> {
  await db
    .insertInto('room_node')
    .values({ id, last_seen_at: now })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ last_seen_at: now }))
    .execute();
}

export async function removeNode(db: Db, id: string): Promise<void> {
  await db.deleteFrom('room_node').where('id', '=', id).execute();
}

/** Deletes nodes without a heartbeat since this time. */
export async function removeDeadNodes(db: Db, since: Date): Promise<void> {
  await db.deleteFrom('room_node').where('last_seen_at', '<', since).execute();
}

/** Returns the condition for participants whose node has sent no heartbeat since this time. */
function isSilent(since: Date) {
  return sql<boolean>`room_participant.state <> 'LEFT' and room_participant.node_id is not null
    and room_participant.disconnected_since is null and not exists (
      select from room_node where room_node.id = room_participant.node_id and room_node.last_seen_at >= ${since})`;
}

export function listOnDeadNodes(db: Db, since: Date) {
  return db.selectFrom('room_participant').select('id').where(isSilent(since));
}

/** Marks the participants as disconnected. @returns their rooms. */
export async function markDisconnected(db: Db, since: Date, now: Date): Promise<string[]> {
  const rows = await db
    .updateTable('room_participant')
    .set({ disconnected_since: now })
    .where(isSilent(since))
    .returning('room_id')
    .execute();
  return [...new Set(rows.map(({ room_id: id }) => id))];
}

/** Marks participants as connected again when their node still has them. */
export async function markReconnected(
  db: Db,
  nodeId: string,
  connectionIds: readonly string[],
): Promise<void> {
  if (connectionIds.length === 0) return;
  await db
    .updateTable('room_participant')
    .set({ disconnected_since: null })
    .where('node_id', '=', nodeId)
    .where((eb) => eb('connection_id', '=', eb.fn.any(eb.val(connectionIds))))
    .where('state', '<>', 'LEFT')
    .where('disconnected_since', 'is not', null)
    .execute();
}

/** Marks all participants of a node as disconnected. @returns their rooms. */
export async function disconnectAllOnNode(db: Db, nodeId: string, now: Date): Promise<string[]> {
  const rows = await db
    .updateTable('room_participant')
    .set({ disconnected_since: now, connection_id: null, node_id: null })
    .where('node_id', '=', nodeId)
    .where('state', '<>', 'LEFT')
    .returning('room_id')
    .execute();
  return [...new Set(rows.map(({ room_id: id }) => id))];
}
