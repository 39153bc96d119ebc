import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';

/**
 * As the plan counts: streams with a signal, and open bridges whose target has none (yet, or because it is a room).
 *
 * @param except a stream that is left out, with the bridge that feeds it.
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
 * The streams that would be further ones of those: by WHIP a publish is about to begin.
 *
 * @param except a stream that is left out.
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

/** Under its lock from here on. @returns undefined when the workspace has no such stream. */
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

/** What the stream is called that a bridge plays; undefined when it is gone. */
export async function findBridgedTitle(db: Db, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('stream')
    .select('title')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row?.title;
}

/** What decides about a publish of our own to a stream, and whether somebody else publishes to it. */
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
