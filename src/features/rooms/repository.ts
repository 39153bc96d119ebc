import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { PageRequest } from '../../kernel/page.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { pagePerCombination } from '../../platform/db/page-filters.ts';
import { type RoomStatus, type RoomTable, VALUES } from '../../platform/db/tables.generated.ts';
import { isAccountActive } from '../../platform/db/workspace.ts';

export type RoomRow = Selectable<RoomTable>;
export type RoomChange = Updateable<RoomTable>;

export interface RoomFilter {
  status?: readonly RoomStatus[] | undefined;
}

export function insertRoom(tx: Tx, row: Insertable<RoomTable>): Promise<RoomRow> {
  return tx.insertInto('room').values(row).returningAll().executeTakeFirstOrThrow();
}

export function findRoom(db: Db, workspaceId: string, id: string): Promise<RoomRow | undefined> {
  return db
    .selectFrom('room')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Finds an open room of any workspace whose account is not suspended, for people who join. */
export function findOpenRoom(db: Db, id: string): Promise<RoomRow | undefined> {
  return db
    .selectFrom('room')
    .selectAll()
    .where('id', '=', id)
    .where(isAccountActive('room.workspace_id'))
    .executeTakeFirst();
}

/** Finds the data visible to anyone with the URL, for any workspace whose account is not suspended. */
export function findPublicRoom(db: Db, id: string) {
  return db
    .selectFrom('room')
    .innerJoin('workspace', 'workspace.id', 'room.workspace_id')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .select(['room.status', 'room.expires_at', 'room.record_enabled'])
    .select(['account.username', 'account.name as creator_name'])
    .where('room.id', '=', id)
    .where(isAccountActive('room.workspace_id'))
    .executeTakeFirst();
}

/** Finds a room of any workspace, for its connections. */
export function findAnyRoom(db: Db, id: string): Promise<RoomRow | undefined> {
  return db.selectFrom('room').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function findRooms(db: Db, ids: readonly string[]): Promise<RoomRow[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('room')
    .selectAll()
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .execute();
}

export function lockRoom(tx: Tx, workspaceId: string, id: string): Promise<RoomRow | undefined> {
  return tx
    .selectFrom('room')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** Locks a room of any workspace, for joins, departures and the sweep. */
export function lockAnyRoom(tx: Tx, id: string): Promise<RoomRow | undefined> {
  return tx.selectFrom('room').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

export function listRooms(
  db: Db,
  workspaceId: string,
  filter: RoomFilter,
  page: PageRequest,
): Promise<RoomRow[]> {
  const listed = { table: 'room', prefix: 'room', of: { workspace_id: workspaceId } } as const;
  return db
    .selectFrom('room')
    .selectAll()
    .where(pagePerCombination(page, listed, { status: [filter.status, VALUES.room.status] }))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

export function updateRoom(tx: Tx, id: string, change: RoomChange): Promise<RoomRow> {
  return tx.updateTable('room').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
}

export async function deleteRoom(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('room').where('id', '=', id).execute();
}

/** Lists the rooms that may be due, with the data that decides it. */
export function listRoomsToReconcile(db: Db, now: Date) {
  const present = sql`from room_participant present where present.room_id = room.id`;
  const away = sql<boolean>`exists (select ${present} and present.state <> 'LEFT'
    and present.disconnected_since + make_interval(secs => room.departure_timeout_sec) <= ${now})`;
  const waitingSince = sql<Date | null>`(select min(present.created_at) ${present} and present.state = 'JOINING')`;
  return db
    .selectFrom('room')
    .innerJoin('workspace', 'workspace.id', 'room.workspace_id')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .selectAll('room')
    .select(['account.plan', 'account.suspended_at', away.as('has_away'), waitingSince.as('waiting_since')])
    .where('room.status', '<>', 'ENDED')
    .where((eb) =>
      eb.or([
        eb('room.status', '=', 'ACTIVE'),
        eb('room.expires_at', '<=', now),
        sql<boolean>`exists (
        select ${present} and present.state <> 'LEFT')`,
      ]),
    )
    .orderBy('room.id');
}

// Queries of bans.

/** @returns whether the identity was not banned before. */
export async function insertBan(tx: Tx, roomId: string, identity: string, now: Date): Promise<boolean> {
  const made = await tx
    .insertInto('room_ban')
    .values({ room_id: roomId, identity, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .returning('identity')
    .executeTakeFirst();
  return made !== undefined;
}

export async function isBanned(db: Db, roomId: string, identity: string): Promise<boolean> {
  const row = await db
    .selectFrom('room_ban')
    .select('identity')
    .where('room_id', '=', roomId)
    .where('identity', '=', identity)
    .executeTakeFirst();
  return row !== undefined;
}

/** @returns whether it existed. */
export async function deleteBan(tx: Tx, roomId: string, identity: string): Promise<boolean> {
  const gone = await tx
    .deleteFrom('room_ban')
    .where('room_id', '=', roomId)
    .where('identity', '=', identity)
    .returning('identity')
    .executeTakeFirst();
  return gone !== undefined;
}
