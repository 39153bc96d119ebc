import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { pageCondition } from '../../../platform/db/page.ts';
import type { RestreamTable, RestreamTargetTable } from '../../../platform/db/tables.generated.ts';
import { isAccountActive } from '../../../platform/db/workspace.ts';

export type RestreamRow = Selectable<RestreamTable>;
export type TargetRow = Selectable<RestreamTargetTable>;
export type TargetChange = Updateable<RestreamTargetTable>;

/** Restream with its targets, oldest first. */
export interface RestreamWithTargets {
  row: RestreamRow;
  targets: TargetRow[];
}

export interface RestreamFilter {
  streamId?: string | undefined;
}

export function insertRestream(tx: Tx, row: Insertable<RestreamTable>): Promise<RestreamRow> {
  return tx.insertInto('restream').values(row).returningAll().executeTakeFirstOrThrow();
}

/** Finds the restream that an earlier request with this Idempotency-Key created. */
export function findByOperation(db: Db, idempotentRunId: string): Promise<RestreamRow | undefined> {
  return db.selectFrom('restream').selectAll().where('operation_id', '=', idempotentRunId).executeTakeFirst();
}

export async function insertTargets(tx: Tx, rows: Insertable<RestreamTargetTable>[]): Promise<void> {
  if (rows.length > 0) await tx.insertInto('restream_target').values(rows).execute();
}

export function findRestream(db: Db, workspaceId: string, id: string): Promise<RestreamRow | undefined> {
  return db
    .selectFrom('restream')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/**
 * Locks the stream before its restreams, as everywhere: a change of the stream then updates its restreams.
 */
async function holdStream(tx: Tx, restreamId: string): Promise<void> {
  await sql`select from stream where id = (select stream_id from restream where id = ${restreamId})
    for key share`.execute(tx);
}

export async function lockRestream(
  tx: Tx,
  workspaceId: string,
  id: string,
): Promise<RestreamRow | undefined> {
  await holdStream(tx, id);
  return tx
    .selectFrom('restream')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** Locks a restream of any workspace, to bring it in line with its stream. */
export async function lockAnyRestream(tx: Tx, id: string): Promise<RestreamRow | undefined> {
  await holdStream(tx, id);
  return tx.selectFrom('restream').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

export function listRestreams(
  db: Db,
  workspaceId: string,
  filter: RestreamFilter,
  page: PageRequest,
): Promise<RestreamRow[]> {
  let query = db
    .selectFrom('restream')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where(pageCondition(page, 'id', 'created_at', 'rst'));
  if (filter.streamId !== undefined) query = query.where('stream_id', '=', filter.streamId);
  return query.orderBy('id', page.order).limit(page.fetchLimit).execute();
}

export function updateRestream(tx: Tx, id: string, change: Updateable<RestreamTable>): Promise<RestreamRow> {
  return tx.updateTable('restream').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
}

export async function deleteRestream(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('restream').where('id', '=', id).execute();
}

export function restreamsOfStream(tx: Tx, streamId: string): Promise<RestreamRow[]> {
  return tx
    .selectFrom('restream')
    .selectAll()
    .where('stream_id', '=', streamId)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

/** Oldest first. */
export function listByStream(db: Db, streamId: string): Promise<RestreamRow[]> {
  return db.selectFrom('restream').selectAll().where('stream_id', '=', streamId).orderBy('id').execute();
}

export async function countRestreams(tx: Tx, streamId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('restream')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('stream_id', '=', streamId)
    .executeTakeFirstOrThrow();
  return count;
}

/** Oldest first. */
export function targetsOf(db: Db, restreamIds: readonly string[]): Promise<TargetRow[]> {
  return db
    .selectFrom('restream_target')
    .selectAll()
    .where((eb) => eb('restream_id', '=', eb.fn.any(eb.val(restreamIds))))
    .orderBy('id')
    .execute();
}

export function findTarget(
  db: Db,
  workspaceId: string,
  restreamId: string,
  id: string,
): Promise<TargetRow | undefined> {
  return db
    .selectFrom('restream_target')
    .innerJoin('restream', 'restream.id', 'restream_target.restream_id')
    .selectAll('restream_target')
    .where('restream_target.id', '=', id)
    .where('restream.id', '=', restreamId)
    .where('restream.workspace_id', '=', workspaceId)
    .executeTakeFirst();
}

export function lockTarget(tx: Tx, restreamId: string, id: string): Promise<TargetRow | undefined> {
  return tx
    .selectFrom('restream_target')
    .selectAll()
    .where('restream_id', '=', restreamId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

export async function restreamIdOf(db: Db, targetId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('restream_target')
    .select('restream_id')
    .where('id', '=', targetId)
    .executeTakeFirst();
  return row?.restream_id;
}

export function updateTarget(tx: Tx, id: string, change: TargetChange): Promise<TargetRow> {
  return tx
    .updateTable('restream_target')
    .set(change)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteTarget(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('restream_target').where('id', '=', id).execute();
}

/** Counts the targets of the whole workspace, as the plan does. */
export async function countTargets(db: Db, workspaceId: string): Promise<number> {
  const { count } = await db
    .selectFrom('restream_target')
    .innerJoin('restream', 'restream.id', 'restream_target.restream_id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('restream.workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  return count;
}

/** Resets the targets for a new run of a restream. */
export async function resetTargets(tx: Tx, restreamId: string): Promise<void> {
  await tx
    .updateTable('restream_target')
    .set({ state: 'IDLE', error_severity: null, error_message: null, retry_count: 0, next_retry_at: null })
    .set((eb) => ({ connected_at: null, bitrate_kbps: null, revision: eb('revision', '+', 1) }))
    .where('restream_id', '=', restreamId)
    .execute();
}

/** Returns the condition for a signal, which counts for the reconnect window after its loss. */
const hasSignal = (now: Date) =>
  sql<boolean>`(stream.has_signal or coalesce(
    stream.signal_lost_at + make_interval(secs => stream.reconnect_window_sec) > ${now}, false))`;

/** Finds the current state of the stream that the restream follows. */
export function findSource(db: Db, streamId: string, now: Date) {
  return db
    .selectFrom('stream')
    .select(['stream.is_live as isLive', hasSignal(now).as('hasSignal')])
    .select((eb) =>
      eb
        .and([eb('stream.deleted_at', 'is', null), isAccountActive('stream.workspace_id')])
        .$castTo<boolean>()
        .as('isAllowed'),
    )
    .where('stream.id', '=', streamId)
    .executeTakeFirstOrThrow();
}

/** Lists the restreams that are out of sync with their stream: `desiredRunState` as an SQL condition. */
export async function listOutOfSync(db: Db, now: Date): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select restream.id from restream
    join stream on stream.id = restream.stream_id
    cross join lateral (select case restream.start_mode
      when 'WITH_BROADCAST' then stream.is_live
      when 'WITH_SIGNAL' then ${hasSignal(now)}
      else false end as is_time) time
    cross join lateral (select case
      when restream.start_mode <> 'MANUAL'
        and restream.manual_override = case when time.is_time then 'STARTED' else 'STOPPED' end then 'AUTO'
      else restream.manual_override end as manual_override) next
    where (restream.is_running or stream.is_live or stream.has_signal or restream.manual_override <> 'AUTO')
      and (restream.manual_override <> next.manual_override or restream.is_running <> (
        restream.enabled and stream.deleted_at is null and ${isAccountActive('stream.workspace_id')}
          and (next.manual_override = 'STARTED' or (next.manual_override = 'AUTO' and time.is_time))))
    limit 500`.execute(db);
  return rows.map(({ id }) => id);
}

// Queries of the sending nodes.

/** Lists targets that this node must send to: it has the encoder, or had it within the reconnect window. */
export function listDesiredTargets(db: Db, nodeId: string, now: Date) {
  return db
    .selectFrom('restream_target as target')
    .innerJoin('restream', 'restream.id', 'target.restream_id')
    .innerJoin('stream', 'stream.id', 'restream.stream_id')
    .leftJoin('ingest_session as ingest', (join) =>
      join.onRef('ingest.stream_id', '=', 'stream.id').on('ingest.ended_at', 'is', null),
    )
    .selectAll('target')
    .select('restream.stream_id')
    .where('restream.is_running', '=', true)
    .where('target.enabled', '=', true)
    .where((eb) =>
      eb.or([eb('target.error_severity', 'is', null), eb('target.error_severity', '=', 'NORMAL')]),
    )
    .where((eb) =>
      eb.or([
        eb('ingest.node_id', '=', nodeId),
        eb.and([eb('ingest.id', 'is', null), eb('target.node_id', '=', nodeId), hasSignal(now)]),
      ]),
    )
    .orderBy('target.id')
    .execute();
}

/** @returns the claimed rows: unheld before, leased to this node until `until`. */
export async function claimTargets(
  db: Db,
  nodeId: string,
  ids: readonly string[],
  now: Date,
  until: Date,
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .updateTable('restream_target')
    .set({ node_id: nodeId, lease_until: until })
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .where((eb) =>
      eb.or([eb('node_id', 'is', null), eb('node_id', '=', nodeId), eb('lease_until', '<=', now)]),
    )
    .returning('id')
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Lists the targets leased to this node. */
export function listLeasedTargets(db: Db, nodeId: string): Promise<{ id: string; restream_id: string }[]> {
  return db
    .selectFrom('restream_target')
    .select(['id', 'restream_id'])
    .where('node_id', '=', nodeId)
    .execute();
}

/** Lists targets with an expired lease: no node sends to them. */
export function listExpiredLeases(db: Db, now: Date): Promise<{ id: string; restream_id: string }[]> {
  return db
    .selectFrom('restream_target')
    .select(['id', 'restream_id'])
    .where('node_id', 'is not', null)
    .where('lease_until', '<=', now)
    .limit(500)
    .execute();
}

export async function setBitrates(
  db: Db,
  nodeId: string,
  bitrates: ReadonlyMap<string, number>,
): Promise<void> {
  if (bitrates.size === 0) return;
  await sql`update restream_target set bitrate_kbps = measured.kbps
    from unnest(${[...bitrates.keys()]}::text[], ${[...bitrates.values()].map(Math.round)}::integer[])
      as measured (id, kbps)
    where restream_target.id = measured.id and node_id = ${nodeId} and state = 'BROADCASTING'
      and bitrate_kbps is distinct from measured.kbps`.execute(db);
}
