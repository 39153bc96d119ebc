import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { isAccountActive } from '../../../platform/db/workspace.ts';

/** Counts the active simulations of the workspace, except that of this stream. */
export async function countOthers(
  tx: Tx,
  workspaceId: string,
  { streamId, now }: { streamId: string; now: Date },
): Promise<number> {
  const { count } = await tx
    .selectFrom('signal_simulation')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('workspace_id', '=', workspaceId)
    .where('stream_id', '!=', streamId)
    .where('ends_at', '>', now)
    .executeTakeFirstOrThrow();
  return count;
}

export async function begin(tx: Tx, workspaceId: string, streamId: string, until: Date): Promise<void> {
  await tx
    .insertInto('signal_simulation')
    .values({ stream_id: streamId, workspace_id: workspaceId, ends_at: until })
    .onConflict((conflict) => conflict.column('stream_id').doUpdateSet({ ends_at: until }))
    .execute();
}

/** Ends the simulation, under the lock of the stream. */
export async function end(tx: Tx, streamId: string): Promise<void> {
  await tx.deleteFrom('signal_simulation').where('stream_id', '=', streamId).execute();
}

interface ClaimedSimulation {
  stream_id: string;
  ends_at: Date;
  key_encrypted: Uint8Array;
}

/**
 * Claims at most `max` simulations: those of this node, unclaimed ones, and those of a node without a
 * heartbeat since `lostBefore`.
 */
export async function claim(
  db: Db,
  nodeId: string,
  { now, lostBefore, max }: { now: Date; lostBefore: Date; max: number },
): Promise<ClaimedSimulation[]> {
  const { rows } = await sql<ClaimedSimulation>`
    update signal_simulation set node_id = ${nodeId}, last_seen_at = ${now}
    from stream
    where stream.id = signal_simulation.stream_id and signal_simulation.stream_id in (
      select s.stream_id from signal_simulation s join stream t on t.id = s.stream_id
      where s.ends_at > ${now} and t.enabled and t.deleted_at is null and ${isAccountActive('s.workspace_id')}
        and (s.node_id = ${nodeId} or s.node_id is null or s.last_seen_at < ${lostBefore})
      order by s.node_id = ${nodeId} desc nulls last, s.stream_id
      limit ${max} for update of s skip locked)
    returning signal_simulation.stream_id, signal_simulation.ends_at, stream.key_encrypted`.execute(db);
  return rows;
}

/**
 * Deletes the ended simulation. An unclaimed one, or one with another end, was requested later and remains.
 */
export async function deleteSimulation(db: Db, streamId: string, until: Date): Promise<void> {
  await db
    .deleteFrom('signal_simulation')
    .where('stream_id', '=', streamId)
    .where('ends_at', '=', until)
    .where('node_id', 'is not', null)
    .execute();
}

export async function deleteEndedSimulations(db: Db, now: Date): Promise<void> {
  await db.deleteFrom('signal_simulation').where('ends_at', '<=', now).execute();
}
