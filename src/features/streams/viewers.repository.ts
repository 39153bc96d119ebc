import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';

export interface NodeCount {
  streamId: string;
  current: number;
}

/** What this process counts now, in the place of what it said before. */
export async function writeCounts(
  tx: Tx,
  nodeId: string,
  counts: readonly NodeCount[],
  now: Date,
): Promise<void> {
  if (counts.length === 0) return;
  const rows = JSON.stringify(counts.map(({ streamId, current }) => ({ id: streamId, current })));
  // A stream that is being removed has no row to refer to any more.
  await sql`
    insert into viewer_count (stream_id, node_id, current, updated_at)
    select stream.id, ${nodeId}, given.current, ${now}
      from jsonb_to_recordset(${rows}::text::jsonb) as given (id text, current integer)
      join stream on stream.id = given.id
    on conflict (stream_id, node_id)
      do update set current = excluded.current, updated_at = excluded.updated_at`.execute(tx);
}

/** Streams with counts, locked; those that another transaction holds are left to the next time. */
export async function lockCounted(tx: Tx): Promise<string[]> {
  const rows = await tx
    .selectFrom('stream')
    .select('id')
    .where('id', 'in', (eb) => eb.selectFrom('viewer_count').select('stream_id'))
    .orderBy('id')
    .forNoKeyUpdate()
    .skipLocked()
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Adds up what the processes counted since `freshSince` for these streams, and keeps the highest sum of the
 * stream and of its session. A stream that is not live has no viewers.
 */
export async function sumCounts(tx: Tx, streamIds: readonly string[], freshSince: Date): Promise<void> {
  await sql`
    with summed as (
      select stream.id, stream.current_session_id, case when stream.is_live then coalesce(sum(viewer_count.current)
          filter (where viewer_count.updated_at > ${freshSince}), 0) else 0 end::integer as current
        from stream join viewer_count on viewer_count.stream_id = stream.id
        where stream.id = any(${streamIds})
        group by stream.id
    ), sessions as (
      update stream_session set peak_viewers = summed.current from summed
        where stream_session.id = summed.current_session_id
          and stream_session.broadcast_started_at is not null
          and stream_session.broadcast_ended_at is null
          and stream_session.peak_viewers < summed.current
    )
    update stream
      set viewer_count = summed.current, peak_viewers = greatest(stream.peak_viewers, summed.current)
      from summed where stream.id = summed.id and stream.viewer_count <> summed.current`.execute(tx);
}

/** Removes what has been taken into account: of processes that are gone, and of streams that nobody watches. */
export async function dropSpent(tx: Tx, streamIds: readonly string[], freshSince: Date): Promise<void> {
  await tx
    .deleteFrom('viewer_count')
    .where((eb) => eb('stream_id', '=', eb.fn.any(eb.val(streamIds))))
    .where((eb) => eb.or([eb('current', '=', 0), eb('updated_at', '<=', freshSince)]))
    .execute();
}

export async function addUniqueViewers(db: Db, sessionId: string, more: number): Promise<void> {
  await db
    .updateTable('stream_session')
    .set((eb) => ({ unique_viewers: eb('unique_viewers', '+', more) }))
    .where('id', '=', sessionId)
    .execute();
}
