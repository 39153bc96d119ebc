import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';

/**
 * Counts as the plan does: streams with a signal, and open bridges whose target has none (yet, or because it
 * is a room).
 *
 * @param except a stream to exclude, with the bridge that feeds it.
 */
export async function countEncoders(db: Db, workspaceId: string, except = ''): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select (select count(*) from stream where workspace_id = ${workspaceId} and has_signal and id <> ${except})::integer
      + (select count(*) from bridge where workspace_id = ${workspaceId} and status not in ('FAILED', 'STOPPED')
        and target_id <> ${except}
        and not exists (select from stream where id = bridge.target_id and has_signal))::integer as count`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/**
 * Counts the streams with a pending publish by WHIP that would add to the encoders.
 *
 * @param except a stream to exclude.
 */
export async function countPending(db: Db, workspaceId: string, except: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(distinct stream.id)::integer as count
    from whip_session join stream on stream.id = whip_session.stream_id
    where workspace_id = ${workspaceId} and not has_signal and stream.id <> ${except}
      and state in ('OFFERED', 'ANSWERED')
      and not exists (select from bridge where target_id = stream.id and status not in ('FAILED', 'STOPPED'))`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/**
 * Locks the target stream until the transaction ends.
 * @returns undefined when the workspace has no stream with this ID.
 */
export function lockBridgeTarget(tx: Tx, workspaceId: string, id: string) {
  return tx
    .selectFrom('stream')
    .select(['enabled', 'has_signal'])
    .where('id', '=', id)
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** Finds the title of the stream that a bridge plays; undefined when the stream is deleted. */
export async function findBridgedTitle(db: Db, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('stream')
    .select('title')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row?.title;
}

/** Finds the data that decides on a publish by a bridge, and whether another publisher is connected. */
export function findTarget(db: Db, id: string) {
  return db
    .selectFrom('stream')
    .innerJoin('workspace', 'workspace.id', 'stream.workspace_id')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .leftJoin('ingest_session as ingest', (join) =>
      join
        .onRef('ingest.stream_id', '=', 'stream.id')
        .on('ingest.ended_at', 'is', null)
        .on('ingest.lost_at', 'is', null),
    )
    .select(['stream.id', 'stream.enabled', 'stream.latency_mode', 'account.plan', 'account.suspended_at'])
    .select(['stream.key_hash', 'workspace.mode', 'ingest.id as ingest_id'])
    .where('stream.id', '=', id)
    .where('stream.deleted_at', 'is', null)
    .executeTakeFirst();
}
