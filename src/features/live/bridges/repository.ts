import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { pageByIndexOrder, pagePerCombination } from '../../../platform/db/page-filters.ts';
import {
  type BridgeEndReason,
  type BridgeStatus,
  type BridgeTable,
  type BridgeType,
  VALUES,
} from '../../../platform/db/tables.generated.ts';
import { isAccountActive } from '../../../platform/db/workspace.ts';
import { OPEN } from './rules.ts';

export type BridgeRow = Selectable<BridgeTable>;
export type BridgeChange = Updateable<BridgeTable>;

export interface BridgeFilter {
  status?: readonly BridgeStatus[] | undefined;
  type?: readonly BridgeType[] | undefined;
  targetId?: string | undefined;
}

export function insertBridge(tx: Tx, row: Insertable<BridgeTable>): Promise<BridgeRow> {
  return tx.insertInto('bridge').values(row).returningAll().executeTakeFirstOrThrow();
}

export function findBridge(db: Db, workspaceId: string, id: string): Promise<BridgeRow | undefined> {
  return db
    .selectFrom('bridge')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export function lockBridge(tx: Tx, workspaceId: string, id: string): Promise<BridgeRow | undefined> {
  return tx
    .selectFrom('bridge')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** Finds a bridge of any workspace, for the nodes that run it. */
export function findAnyBridge(db: Db, id: string): Promise<BridgeRow | undefined> {
  return db.selectFrom('bridge').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Locks a bridge of any workspace, for the nodes that run or end it. */
export function lockAnyBridge(tx: Tx, id: string): Promise<BridgeRow | undefined> {
  return tx.selectFrom('bridge').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

export function listBridges(
  db: Db,
  workspaceId: string,
  filter: BridgeFilter,
  page: PageRequest,
): Promise<BridgeRow[]> {
  const { status, type, targetId } = filter;
  const of = targetId === undefined ? { workspace_id: workspaceId } : { target_id: targetId };
  const listed = { table: 'bridge', prefix: 'brg', of } as const;
  // The index on the target covers type and status only.
  const onPage = targetId === undefined ? pagePerCombination : pageByIndexOrder;
  const { bridge } = VALUES;
  return db
    .selectFrom('bridge')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where(onPage(page, listed, { type: [type, bridge.type], status: [status, bridge.status] }))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

export function updateBridge(tx: Tx, id: string, change: BridgeChange): Promise<BridgeRow> {
  return tx.updateTable('bridge').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
}

export async function deleteBridge(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('bridge').where('id', '=', id).execute();
}

export async function isFed(tx: Tx, targetId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('bridge')
    .select('id')
    .where('target_id', '=', targetId)
    .where('type', '!=', 'STREAM_TO_ROOM')
    .where('status', 'in', OPEN)
    .executeTakeFirst();
  return row !== undefined;
}

/** Reports whether an open bridge of this type connects the source and the target. */
export async function isBridged(
  tx: Tx,
  type: BridgeType,
  { sourceId, targetId }: { sourceId: string; targetId: string },
): Promise<boolean> {
  const row = await tx
    .selectFrom('bridge')
    .select('id')
    .where('type', '=', type)
    .where('source_id', '=', sourceId)
    .where('target_id', '=', targetId)
    .where('status', 'in', OPEN)
    .executeTakeFirst();
  return row !== undefined;
}

/** Lists the open bridges that must end, with the reason, in one statement for all workspaces. */
export async function listOverdueBridges(
  db: Db,
  now: Date,
): Promise<{ id: string; reason: BridgeEndReason }[]> {
  const { rows } = await sql<{ id: string; reason: BridgeEndReason }>`
    select bridge.id, why.reason from bridge
    left join stream on stream.id =
      case when bridge.type = 'STREAM_TO_ROOM' then bridge.source_id else bridge.target_id end
    left join room on room.id =
      case when bridge.type = 'STREAM_TO_ROOM' then bridge.target_id else bridge.source_id end
    cross join lateral (select case
      when bridge.expires_at <= ${now} then 'EXPIRED'
      when not ${isAccountActive('bridge.workspace_id')} then 'SUSPENDED'
      when bridge.type <> 'STREAM_TO_ROOM' and (stream.id is null or stream.deleted_at is not null
        or not stream.enabled or (not stream.is_live and stream.ended_at > bridge.created_at))
        then 'TARGET_ENDED'
      when bridge.type = 'ROOM_TO_STREAM' and (room.id is null or room.status = 'ENDED') then 'SOURCE_ENDED'
      when bridge.type = 'STREAM_TO_ROOM' and (room.id is null or room.status = 'ENDED') then 'TARGET_ENDED'
      when bridge.type = 'STREAM_TO_ROOM' and (stream.id is null or stream.deleted_at is not null
        or not stream.enabled) then 'SOURCE_ENDED'
      when bridge.type = 'STREAM_TO_ROOM' and exists (select from room_participant seat
        where seat.bridge_id = bridge.id and seat.leave_reason = 'KICKED') then 'REMOVED'
      end as reason) why
    where bridge.status not in ('FAILED', 'STOPPED') and why.reason is not null
    limit 500`.execute(db);
  return rows;
}

// Queries of the nodes that run bridges.

/** Runnable bridge, with the node that its source stream is published to. */
export type RunnableBridge = BridgeRow & { publishing_node_id: string | null };

/** Selects the runnable bridges that this node holds or that are unclaimed. */
export function runnableOn(db: Db, nodeId: string, hasRooms: boolean, now: Date): Promise<RunnableBridge[]> {
  const all = db
    .selectFrom('bridge')
    .selectAll()
    .select((eb) =>
      eb
        .selectFrom('ingest_session')
        .select('ingest_session.node_id')
        .whereRef('ingest_session.stream_id', '=', 'bridge.source_id')
        .where('ingest_session.ended_at', 'is', null)
        .as('publishing_node_id'),
    );
  return (hasRooms ? all : all.where('type', '=', 'PULL_TO_STREAM'))
    .where('status', 'in', OPEN)
    .where((eb) =>
      eb.or([eb('node_id', 'is', null), eb('node_id', '=', nodeId), eb('lease_until', '<=', now)]),
    )
    .orderBy('id')
    .execute();
}

/** @returns the claimed rows: unheld before, leased to this node until `until`. */
export async function claimBridges(
  db: Db,
  nodeId: string,
  ids: readonly string[],
  { now, until }: { now: Date; until: Date },
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .updateTable('bridge')
    .set({ node_id: nodeId, lease_until: until })
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .where('status', 'in', OPEN)
    .where((eb) =>
      eb.or([eb('node_id', 'is', null), eb('node_id', '=', nodeId), eb('lease_until', '<=', now)]),
    )
    .returning('id')
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Lists the open bridges leased to a node. */
export function listLeasedBridges(db: Db, nodeId: string): Promise<{ id: string }[]> {
  return db
    .selectFrom('bridge')
    .select('id')
    .where('node_id', '=', nodeId)
    .where('status', 'in', OPEN)
    .execute();
}

/** Lists the open bridges with an expired lease. */
export function listExpiredLeases(db: Db, now: Date): Promise<{ id: string }[]> {
  return db
    .selectFrom('bridge')
    .select('id')
    .where('status', 'in', OPEN)
    .where('lease_until', '<=', now)
    .limit(500)
    .execute();
}
